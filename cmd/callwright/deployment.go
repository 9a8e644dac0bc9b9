package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/callwright/callwright/adapters/bunstore"
	"github.com/callwright/callwright/adapters/masterkey"
	"github.com/callwright/callwright/transport/cli"
)

// deployed is the open database of a deployment, whose server may be running, with the keys of the deployment.
type deployed struct {
	db   *bunstore.DB
	keys masterkey.Keys
}

// openDeployment opens the existing database of a deployment. It neither creates nor migrates the database.
func openDeployment(ctx context.Context, o cli.Deployment) (deployed, error) {
	key, err := masterKey(o)
	if err != nil {
		return deployed{}, err
	}
	keys, err := key.Keys()
	if err != nil {
		return deployed{}, err
	}
	address := o.DatabaseURL.Reveal()
	if address == "" {
		address = "sqlite:" + filepath.Join(o.Data, "callwright.db")
	}
	db, err := bunstore.Open(ctx, address, bunstore.Config{Keyring: keys.Keyring, Existing: true})
	if err != nil {
		return deployed{}, err
	}
	return deployed{db, keys}, nil
}

// masterKey returns the master key of a deployment: o.SecretKey, or else the key in the data folder.
func masterKey(o cli.Deployment) (masterkey.Key, error) {
	if _, err := os.Stat(o.Data); err != nil && o.SecretKey == "" {
		return masterkey.Key{}, fmt.Errorf("--data %s: %w: name the data folder of a deployment", o.Data, err)
	}
	key, err := masterkey.Find(o.SecretKey.Reveal(), o.Data)
	if errors.Is(err, fs.ErrNotExist) {
		return masterkey.Key{}, fmt.Errorf("the master key is missing: %s does not exist; set %s, or name the data folder of a deployment with --data",
			masterkey.File(o.Data), masterkey.Variable)
	}
	if err != nil {
		return masterkey.Key{}, fmt.Errorf("master key: %w", err)
	}
	return key, nil
}
