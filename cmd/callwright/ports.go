package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore"
	"github.com/callwright/callwright/adapters/bunstore/portingstore"
	"github.com/callwright/callwright/adapters/masterkey"
	"github.com/callwright/callwright/adapters/riverwork"
	"github.com/callwright/callwright/porting"
	"github.com/callwright/callwright/porting/document"
	"github.com/callwright/callwright/porting/loa"
	"github.com/callwright/callwright/porting/manual"
	"github.com/callwright/callwright/transport/cli"
)

// openPorts opens the database of a deployment beside its server. Nothing is made and nothing is migrated.
func openPorts(ctx context.Context, o cli.PortsOptions) (*cli.Ports, error) {
	key, err := masterKey(o)
	if err != nil {
		return nil, err
	}
	ring, err := key.Keyring()
	if err != nil {
		return nil, err
	}
	address := o.DatabaseURL
	if address == "" {
		address = "sqlite:" + filepath.Join(o.Data, "callwright.db")
	}
	db, err := bunstore.Open(ctx, address, bunstore.Config{Keyring: ring, Existing: true})
	if err != nil {
		return nil, err
	}
	p, err := newPorts(db)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return p, nil
}

// masterKey finds the key of a deployment.
func masterKey(o cli.PortsOptions) (masterkey.Key, error) {
	if _, err := os.Stat(o.Data); err != nil && o.SecretKey == "" {
		return masterkey.Key{}, fmt.Errorf("--data %s: %w: name the data folder of a deployment", o.Data, err)
	}
	key, err := masterkey.Find(o.SecretKey.Reveal(), o.Data)
	if errors.Is(err, fs.ErrNotExist) {
		return masterkey.Key{}, fmt.Errorf("there is no master key in %s: set %s, or name the data folder of a deployment with --data",
			masterkey.File(o.Data), masterkey.Variable)
	}
	if err != nil {
		return masterkey.Key{}, fmt.Errorf("master key: %w", err)
	}
	return key, nil
}

// newPorts joins what the commands need. Durable work is enqueued here and never run: the server runs it.
func newPorts(db *bunstore.DB) (*cli.Ports, error) {
	requests := portingstore.Requests{DB: db}
	work, err := riverwork.New(riverwork.Config{SQL: db.SQL(), Tx: db.Tx, PostgresDSN: db.PostgresDSN()})
	if err != nil {
		return nil, err
	}
	gateway, err := manual.New(manual.Config{Store: portingstore.ManualOrders{DB: db}})
	if err != nil {
		return nil, err
	}
	documents, err := document.New(document.Config{Store: portingstore.Documents{DB: db}, Blobs: portingstore.Blobs{DB: db}, Work: work})
	if err != nil {
		return nil, err
	}
	letters, err := loa.New(loa.Config{Provider: "of the server", // makes no letters

		Store: portingstore.Letters{DB: db}, Atomic: db, Work: work, Mailer: server{}, Renderer: server{}, Key: callwright.Secret(rand.Text() + rand.Text()), // no link is made here
		URL: func(string) string { return "" },
	})
	if err != nil {
		return nil, err
	}
	service, err := porting.New(porting.Config{
		Store: requests, Atomic: db, Work: work, Gateway: gateway, Documents: documents, Letters: letters,
		Inbound: server{}, Mailer: server{}, Notifier: server{}, URLs: server{},
	})
	if err != nil {
		return nil, err
	}
	return &cli.Ports{
		Manual: gateway, Requests: requests, Atomic: db, Documents: documents, Letters: letters, Signer: service, Withdraw: service, Close: db.Close,
	}, nil
}

// server stands for what only the server has. Signing a letter enqueues work for these; none of them is called here.
type server struct{}

func (server) SendMail(context.Context, string, string, string, string) error {
	return callwright.ErrNotImplemented
}

func (server) RenderLetter(context.Context, loa.Text) ([]byte, error) {
	return nil, callwright.ErrNotImplemented
}

func (server) RenderSigned(context.Context, loa.Text, loa.Certificate) ([]byte, error) {
	return nil, callwright.ErrNotImplemented
}

func (server) RegisterInbound(context.Context, callwright.OrgID, callwright.PhoneNumber) error {
	return callwright.ErrNotImplemented
}

func (server) NotifyPort(context.Context, string, porting.Request, porting.Entry) error {
	return callwright.ErrNotImplemented
}

func (server) CheckURL(string) error { return callwright.ErrNotImplemented }
