package monitor

import (
	"context"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/delivery"
	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/alert"
	"github.com/callwright/callwright/sip/failover"
	"github.com/callwright/callwright/sip/health"
)

// Prober probes servers with OPTIONS over TLS. It is safe for concurrent use.
type Prober interface {
	// Options probes one server, and reports a miss when ctx ends first. The server is alive if it answers with any final response
	// but 408, 502, 503 and 504, and if its certificate satisfies verify; the empty verify is sip.VerifyFull. The evidence holds a
	// reason, which names the code of a final response, a response time if and only if the server is alive, and the RetryAfter of a
	// 503. The caller sets its time. A server that does not listen is a miss. The connection may stay open for the next probe.
	Options(ctx context.Context, s failover.Server, verify sip.TLSVerification) health.Evidence
}

// Trunks finds trunks; every sip.Store implements it.
type Trunks interface {
	// Trunk returns a trunk by its id; CodeNotFound when the organization has no such trunk.
	Trunk(ctx context.Context, org callwright.OrgID, id string) (sip.Trunk, error)
}

// Attempts counts attempts at calls. The stores of the call log implement it; siptest.RunCallLog tests it with them.
type Attempts interface {
	// Failures returns how many attempts of a trunk ended at or after since, and how many of those are calllog.End.Technical.
	Failures(ctx context.Context, org callwright.OrgID, trunkID string, since time.Time) (ended, failed int, err error)
}

// Config configures a Service.
type Config struct {
	Statuses      sip.Statuses       `required:"always"`
	Trunks        Trunks             `required:"always"`
	Attempts      Attempts           `required:"always"`
	Atomic        callwright.Atomic  `required:"always"`
	Work          callwright.Work    `required:"always"`
	Prober        Prober             `required:"always"`
	Organizations callwright.Tenants `required:"always"`

	Deliveries sip.Deliveries    // records the deliveries of alerts; nil: they are not recorded
	Mailer     callwright.Mailer // nil: no trunk has alerts by mail
	Texter     alert.Texter      // nil: no trunk has alerts by SMS
	Hooks      alert.Hooks       // nil: no trunk has alerts by webhook
	HookLog    *delivery.Log     // lists alerts that webhooks have not accepted; nil: no list

	callwright.Runtime
}

// Service watches trunks. It implements sip.Monitor and calllog.Monitor.
type Service struct {
	cfg       Config
	breaker   failover.Breaker
	leasing   callwright.Outage // of servers
	recording callwright.Outage // of statuses
}

// The durable work that sends one edge of an alert over one channel. Before the channels had queues, taskAlert was the kind of
// every channel.
const (
	taskAlert     callwright.TaskKind[message] = "sip.alert"      // by webhook
	taskAlertMail callwright.TaskKind[message] = "sip.alert_mail" // by mail or text
)

// taskOf returns the durable work of a channel.
func taskOf(way alert.Channel) callwright.TaskKind[message] {
	if way == alert.ByWebhook {
		return taskAlert
	}
	return taskAlertMail
}

// New checks the configuration and registers the durable work that sends notices. Run probes the servers.
func New(c Config) (*Service, error) {
	if err := callwright.PrepareConfig(&c); err != nil {
		return nil, err
	}
	s := &Service{cfg: c}
	taskAlert.Handle(c.Work, callwright.QueueWebhooks, c.Logger, s.sendAlert)
	taskAlertMail.Handle(c.Work, callwright.QueueMail, c.Logger, s.sendAlert)
	if c.Deliveries != nil {
		c.Work.Every(callwright.QueueUpkeep, "sip.forget_deliveries", deleteEvery, s.deleteDeliveries)
	}
	return s, nil
}
