package main

import (
	"context"
	"errors"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore"
	"github.com/callwright/callwright/adapters/bunstore/orgstore"
	"github.com/callwright/callwright/transport/access"
	"github.com/callwright/callwright/transport/cli"
)

// openAdmin opens the database of a deployment for the commands of administration. It refuses one that was made with another
// master key: what was stored with this one could not be read there.
func openAdmin(ctx context.Context, o cli.Deployment) (*cli.Admin, error) {
	d, err := openDeployment(ctx, o)
	if err != nil {
		return nil, err
	}
	tenants := orgstore.Tenants{DB: d.db}
	service, err := access.New(access.Config{Store: tenants, Atomic: d.db, Secret: d.keys.APIKeys})
	if err == nil {
		_, err = tenants.Organizations(ctx, callwright.Keyset{}, 1)
	}
	if err != nil {
		return nil, errors.Join(err, d.db.Close())
	}
	return &cli.Admin{Access: service, Leases: bunstore.Leases{DB: d.db}, Close: d.db.Close}, nil
}
