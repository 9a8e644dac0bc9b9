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
	// Options probes one server. The server is alive if it responds with any final status except 408, 502, 503 and 504, and if its
	// certificate satisfies verify; an empty verify means sip.VerifyFull. If ctx ends first or the server does not listen, Options reports
	// a miss. The evidence contains a reason, which names the status of a final response, the RetryAfter of a 503, and a response time if
	// and only if the server is alive. The caller sets its time. The connection may stay open for the next probe.
	Options(ctx context.Context, s failover.Server, verify sip.TLSVerification) health.Evidence
}

// Trunks reads trunks; every sip.Store implements it.
type Trunks interface {
	// Trunk returns a trunk by its id, or CodeNotFound if the organization has no such trunk.
	Trunk(ctx context.Context, org callwright.OrgID, id string) (sip.Trunk, error)
}

// Attempts counts call attempts. The stores of the call log implement it; siptest.RunCallLog tests it.
type Attempts interface {
	// Failures returns how many attempts of a trunk ended at or after the time since, and how many of those are calllog.End.Technical.
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

	Deliveries sip.Deliveries    // stores the deliveries of alerts; may be nil
	Mailer     callwright.Mailer // if nil, no trunk may have alerts by mail
	Texter     alert.Texter      // if nil, no trunk may have alerts by SMS
	Hooks      alert.Hooks       // if nil, no trunk may have alerts by webhook
	HookLog    *delivery.Log     // if set, records alerts that webhooks have not accepted

	callwright.Runtime
}

// Service watches trunks. It implements sip.Monitor and calllog.Monitor.
type Service struct {
	cfg       Config
	breaker   failover.Breaker
	leasing   callwright.Outage // outage of leasing servers
	recording callwright.Outage // outage of leasing statuses
}

// The tasks that send one alert notice over one channel. In earlier releases, taskAlert was used for every channel.
const (
	taskAlert     callwright.TaskKind[message] = "sip.alert"      // over a webhook
	taskAlertMail callwright.TaskKind[message] = "sip.alert_mail" // by mail or SMS
)

// taskOf returns the kind of task that sends notices over a channel.
func taskOf(way alert.Channel) callwright.TaskKind[message] {
	if way == alert.ByWebhook {
		return taskAlert
	}
	return taskAlertMail
}

// New returns a service, and registers the durable work that sends notices and deletes old deliveries with c.Work. Call Run to probe
// servers and record statuses. New returns an error if a required field of c is missing.
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
