package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/callwright/callwright/adapters/bunstore"
	"github.com/callwright/callwright/adapters/bunstore/portingstore"
	"github.com/callwright/callwright/adapters/masterkey"
	"github.com/callwright/callwright/porting/manual"
	"github.com/callwright/callwright/transport/cli"
)

// openPorts opens the database of a deployment beside its server. Nothing is made and nothing is migrated.
func openPorts(ctx context.Context, o cli.PortsOptions) (*cli.Ports, error) {
	db, err := openDatabase(ctx, o)
	if err != nil {
		return nil, err
	}
	gateway, err := manual.New(manual.Config{Store: portingstore.ManualOrders{DB: db}})
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &cli.Ports{Manual: gateway, Requests: portingstore.Requests{DB: db}, Atomic: db, Close: db.Close}, nil
}

// openDatabase opens the database of a deployment with its key.
func openDatabase(ctx context.Context, o cli.PortsOptions) (*bunstore.DB, error) {
	address := o.DatabaseURL
	if address == "" {
		address = "sqlite:" + filepath.Join(o.Data, "callwright.db")
	}
	if _, err := os.Stat(o.Data); err != nil && o.SecretKey == "" {
		return nil, fmt.Errorf("--data %s: %w: name the data folder of a deployment", o.Data, err)
	}
	key, err := masterkey.Find(o.SecretKey.Reveal(), o.Data)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("there is no master key in %s: set %s, or name the data folder of a deployment with --data",
			masterkey.File(o.Data), masterkey.Variable)
	}
	if err != nil {
		return nil, fmt.Errorf("master key: %w", err)
	}
	ring, err := key.Keyring()
	if err != nil {
		return nil, err
	}
	return bunstore.Open(ctx, address, bunstore.Config{Keyring: ring, Existing: true})
}
