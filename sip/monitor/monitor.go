package monitor

import (
	"context"
	"errors"
	"log/slog"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/alert"
	"github.com/callwright/callwright/sip/failover"
	"github.com/callwright/callwright/sip/health"
)

// Prober asks one server with OPTIONS over TLS.
type Prober interface {
	// Options asks until ctx ends and says what came of it. Every final answer means that the server is alive but 408
	// and the 5xx that say it is out of order. Connections may stay for the next probe.
	Options(ctx context.Context, s failover.Server, verify sip.TLSVerification) health.Evidence
}

// Config is what a Service needs.
type Config struct {
	Statuses      sip.Statuses
	Trunks        sip.Store
	Log           sip.CallLog
	Atomic        callwright.Atomic
	Work          callwright.Work
	Prober        Prober
	Mailer        alert.Mailer // nil: no trunk has alerts by mail
	Texter        alert.Texter // nil: none has them by short message
	Hooks         alert.Hooks  // nil: none has them by webhook
	Organizations callwright.Tenants
	Clock         callwright.Clock // nil: the machine's
	Logger        *slog.Logger     // nil: discards
}

// Service watches trunks: it is sip.Monitor.
type Service struct {
	Config
	breaker failover.Breaker
}

// taskAlert is the durable work that tells one edge of an alert over one channel.
const taskAlert callwright.TaskKind[message] = "sip.alert"

// New checks the configuration and registers the service's durable work. Run starts the probes.
func New(c Config) (*Service, error) {
	if c.Statuses == nil || c.Trunks == nil || c.Log == nil || c.Atomic == nil || c.Work == nil || c.Prober == nil ||
		c.Organizations == nil {
		return nil, errors.New("monitor: Statuses, Trunks, Log, Atomic, Work, Prober and Organizations are required")
	}
	if c.Clock == nil {
		c.Clock = callwright.SystemClock{}
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	s := &Service{Config: c}
	taskAlert.Handle(c.Work, c.Logger, s.tell)
	return s, nil
}
