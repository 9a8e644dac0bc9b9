package main

import (
	"context"
	"crypto/rand"
	"errors"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore"
	"github.com/callwright/callwright/adapters/bunstore/portingstore"
	"github.com/callwright/callwright/adapters/bunstore/riverwork"
	"github.com/callwright/callwright/porting"
	"github.com/callwright/callwright/porting/document"
	"github.com/callwright/callwright/porting/loa"
	"github.com/callwright/callwright/porting/manual"
	"github.com/callwright/callwright/transport/cli"
)

// openPorts opens the database of a deployment for the commands of the manual gateway.
func openPorts(ctx context.Context, o cli.Deployment) (*cli.Ports, error) {
	d, err := openDeployment(ctx, o)
	if err != nil {
		return nil, err
	}
	p, _, err := newPorts(d.db)
	if err != nil {
		return nil, errors.Join(err, d.db.Close())
	}
	return p, nil
}

// newPorts connects the services that the commands use. The commands enqueue durable tasks, and the server runs these tasks.
func newPorts(db *bunstore.DB) (*cli.Ports, *porting.Service, error) {
	requests := portingstore.Requests{DB: db}
	work, err := newWork(db)
	if err != nil {
		return nil, nil, err
	}
	gateway, err := manual.New(manual.Config{Store: portingstore.ManualOrders{DB: db}})
	if err != nil {
		return nil, nil, err
	}
	documents, err := document.New(document.Config{Store: portingstore.Documents{DB: db}, Blobs: portingstore.Blobs{DB: db}, Work: work})
	if err != nil {
		return nil, nil, err
	}
	letters, err := loa.New(loa.Config{Provider: "of the server", // this process creates no letters

		Store: portingstore.Letters{DB: db}, Atomic: db, Work: work, Mailer: server{}, Renderer: server{}, Key: callwright.Secret(rand.Text() + rand.Text()), // this process creates no links
		URL: func(string) string { return "" },
	})
	if err != nil {
		return nil, nil, err
	}
	service, err := porting.New(porting.Config{
		Store: requests, Atomic: db, Work: work, Gateway: gateway, Documents: documents, Letters: letters,
		Inbound: server{}, Mailer: server{}, Notifier: server{}, URLs: server{},
	})
	if err != nil {
		return nil, nil, err
	}
	return &cli.Ports{
		Manual: gateway, Requests: requests, Atomic: db, Documents: documents, Letters: letters, Signer: service, Withdraw: service, Close: db.Close,
	}, service, nil
}

// newWork returns a callwright.Work that can enqueue tasks but does not run them.
func newWork(db *bunstore.DB) (*riverwork.Work, error) {
	return riverwork.New(riverwork.Config{SQL: db.SQL(), Tx: db.Tx, Atomic: db, PostgresDSN: db.PostgresDSN()})
}

// server replaces ports that only the server implements. Signing a letter enqueues tasks that call them, but this process runs no tasks.
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
