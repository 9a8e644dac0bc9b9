package calllog

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
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

// Config configures a Service. Store, Leases, Monitor and Node are required.
type Config struct {
	Store   Store
	Leases  node.Leases
	Monitor Monitor
	Node    string // names this process; every process of a deployment, past or present, has another name

	Numbering callwright.Numbering // the default countries of organizations; nil: no defaults
	Keep      time.Duration        // retention period; 0: 90 days; at least alert.MaxRateWindow
	Clock     callwright.Clock     // nil: SystemClock
	Logger    *slog.Logger         // nil: discards
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

// nodeKind is the kind of the lease that a node holds while it writes records.
const nodeKind = "sip.node"

// New checks the configuration.
func New(c Config) (*Service, error) {
	c.Keep = cmp.Or(c.Keep, defaultKeep)
	switch {
	case c.Store == nil:
		return nil, errors.New("calllog: Config.Store is required")
	case c.Leases == nil:
		return nil, errors.New("calllog: Config.Leases is required")
	case c.Monitor == nil:
		return nil, errors.New("calllog: Config.Monitor is required")
	case c.Node == "":
		return nil, errors.New("calllog: Config.Node is required")
	case c.Keep < minKeep:
		return nil, errors.New("calllog: Config.Keep must be at least 24 hours")
	}
	if c.Clock == nil {
		c.Clock = callwright.SystemClock{}
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	s := &Service{cfg: c}
	var err error
	s.node, err = node.NewHolder[struct{}](node.HolderConfig{
		Leases: c.Leases, Kind: "sip.node", Node: c.Node, Review: s.finishLost, Loops: []func(context.Context){s.deleteOld},
		Runtime: callwright.Runtime{Clock: c.Clock, Logger: c.Logger},
	})
	return s, err
}
