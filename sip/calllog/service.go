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

// Monitor receives evidence from attempts about servers; monitor.Service implements it.
type Monitor interface {
	// Observe records the evidence of an attempt about a server, named by failover.Server.String.
	Observe(ctx context.Context, org callwright.OrgID, trunkID, server string, e health.Evidence)
}

// Config configures a Service.
type Config struct {
	Store   Store       `required:"always"`
	Leases  node.Leases `required:"always"`
	Monitor Monitor     `required:"always"`
	Node    string      `required:"always"` // names this process; every process of a deployment, past or present, has another name

	Numbering callwright.Numbering // the default countries of organizations; nil: no defaults
	Keep      time.Duration        // retention period; 0: 90 days; at least alert.MaxRateWindow

	callwright.Runtime
}

// The retention period. Alerts look back for up to alert.MaxRateWindow.
const (
	defaultKeep = 90 * 24 * time.Hour
	minKeep     = alert.MaxRateWindow
)

// Service writes and reads the log.
type Service struct {
	cfg  Config
	node *node.Holder[struct{}] // holds the lease of this node while it writes records
}

// New checks the configuration.
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
