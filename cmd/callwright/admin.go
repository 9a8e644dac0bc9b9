package main

import (
	"context"
	"errors"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/access"
	"github.com/callwright/callwright/adapters/bunstore"
	"github.com/callwright/callwright/adapters/bunstore/agentstore"
	"github.com/callwright/callwright/adapters/bunstore/orgstore"
	"github.com/callwright/callwright/adapters/bunstore/sipstore"
	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/monitor"
	"github.com/callwright/callwright/transport/cli"
)

// openAdmin opens the database of a deployment for the admin commands. It returns an error if another master key sealed the rows, because
// the server could not decrypt rows that this key seals.
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
	admin := &cli.Admin{Access: service, Leases: bunstore.Leases{DB: d.db}, Atomic: d.db, Close: d.db.Close}
	if err := addNumbers(admin, d); err != nil {
		return nil, errors.Join(err, d.db.Close())
	}
	return admin, nil
}

// addNumbers adds the services that find and release numbers. These services neither probe nor call nor notify: the server does this work.
func addNumbers(admin *cli.Admin, d deployed) error {
	work, err := newWork(d.db)
	if err != nil {
		return err
	}
	ports, service, err := newPorts(d.db)
	if err != nil {
		return err
	}
	numbers, err := agents.New(agents.Config{Numbers: agentstore.Numbers{DB: d.db}, WebAgents: agentstore.WebAgents{DB: d.db}, Atomic: d.db})
	if err != nil {
		return err
	}
	statuses, trunks := sipstore.Statuses{DB: d.db}, sipstore.Trunks{DB: d.db}
	watch, err := monitor.New(monitor.Config{
		Statuses: statuses, Trunks: trunks, Attempts: sipstore.CallLog{DB: d.db}, Atomic: d.db, Work: work, Prober: struct{ monitor.Prober }{},
		Organizations: orgstore.Tenants{DB: d.db}, Deliveries: sipstore.Deliveries{DB: d.db},
	})
	if err != nil {
		return err
	}
	admin.Trunks, err = sip.New(sip.Config{
		Store: trunks, Atomic: d.db, Numbers: numbers, Statuses: statuses, Registrations: sipstore.Registrations{DB: d.db}, Monitor: watch,
		Codecs: []string{"PCMU"}, DerivationKey: d.keys.RegisterPasswords,
	})
	admin.Ports, admin.Requests = service, ports.Requests
	return err
}
