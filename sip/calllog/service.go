package calllog

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/node"
	"github.com/callwright/callwright/sip/alert"
	"github.com/callwright/callwright/sip/health"
)

// Monitor receives the evidence that attempts yield about servers; monitor.Service implements it.
type Monitor interface {
	// Observe records evidence about the server of an attempt. server is its failover.Server.String.
	Observe(ctx context.Context, org callwright.OrgID, trunkID, server string, e health.Evidence)
}

// Config configures a Service.
type Config struct {
	Store   Store       `required:"always"`
	Leases  node.Leases `required:"always"`
	Monitor Monitor     `required:"always"`
	Node    string      `required:"always"` // id of this process, unique among all processes of the deployment, past and present

	Numbering callwright.Numbering // default countries of organizations; may be nil
	Keep      time.Duration        // retention period, at least alert.MaxRateWindow; 0 means 90 days

	callwright.Runtime
}

// Limits of Config.Keep. Alerts evaluate up to alert.MaxRateWindow of the log.
const (
	defaultKeep = 90 * 24 * time.Hour
	minKeep     = alert.MaxRateWindow
)

// Service writes and reads the log.
type Service struct {
	cfg  Config
	node *node.Holder[struct{}] // holds the lease of this node while Run runs
}

// New returns a service. It returns an error if a required field of c is missing or Keep is too short.
func New(c Config) (*Service, error) {
	if err := callwright.PrepareConfig(&c); err != nil {
		return nil, err
	}
	c.Keep = cmp.Or(c.Keep, defaultKeep)
	if c.Keep < minKeep {
		return nil, errors.New("calllog: Config.Keep must be at least 24 hours")
	}
	s := &Service{cfg: c}
	var err error
	s.node, err = node.NewHolder[struct{}](node.HolderConfig{
		Leases: c.Leases, Kind: "sip.node", Node: c.Node, Review: s.finishLost, Loops: []func(context.Context){s.deleteOld},
		Runtime: c.Runtime,
	})
	return s, err
}
