package alert

import (
	"context"
	"net/url"
	"time"

	"github.com/callwright/callwright"
)

// Kind is the kind of an alert.
type Kind string

// The kinds.
const (
	Unreachable  Kind = "unreachable"
	FailureRate  Kind = "failure_rate"
	ResponseTime Kind = "response_time"
)

// Config is the alert configuration of a trunk.
type Config struct {
	Enabled    bool
	Thresholds Thresholds
	Channels   Channels
}

// Thresholds are the limits beyond which an alert is raised. A zero threshold is never crossed.
type Thresholds struct {
	Unreachable       time.Duration // time for which a server of the trunk is unreachable
	FailureRate       float64       // percent of attempts that fail for technical reasons
	FailureRateWindow time.Duration // 0: 15 minutes
	ResponseTime      time.Duration // mean of the last answered probes
}

// Channels are the ways to send a notice.
type Channels struct {
	Email   bool
	SMS     bool
	Webhook string // a URL; empty: none
}

// Channel is a way to send a notice.
type Channel string

// The channels.
const (
	ByMail    Channel = "email"
	ByText    Channel = "sms"
	ByWebhook Channel = "webhook"
)

// Enabled returns the channels that are in use.
func (c Channels) Enabled() (all []Channel) {
	if c.Email {
		all = append(all, ByMail)
	}
	if c.SMS {
		all = append(all, ByText)
	}
	if c.Webhook != "" {
		all = append(all, ByWebhook)
	}
	return all
}

// WebhookHost returns the scheme and the host of the webhook, without its user, path and query, which may hold a key. It is empty
// without a webhook.
func (c Channels) WebhookHost() string {
	to, err := url.Parse(c.Webhook)
	if err != nil || to.Host == "" {
		return ""
	}
	return to.Scheme + "://" + to.Host
}

// Notice is the message about one edge of an alert.
type Notice struct {
	ID          string // idempotency key: the same for every delivery of this edge
	Org         callwright.OrgID
	Kind        Kind
	Number      callwright.PhoneNumber
	Direction   string
	Value       float64 // in minutes, percent or milliseconds, depending on Kind
	Threshold   float64 // in the same unit
	TriggeredAt time.Time
	ResolvedAt  *time.Time // nil: the alert is raised
	Others      int        // further numbers that the notice is about: they have the same servers and alerts
}

// Texter sends SMS. No adapter of this repository implements it. siptest.RunTexter tests it.
type Texter interface {
	// SendText sends a text, unchanged, to the organization's contacts. id is an idempotency key: a retry with the same id
	// succeeds, and may send the text again. After an error the caller retries.
	SendText(ctx context.Context, org callwright.OrgID, id, text string) error
}

// Hooks sends notices to webhooks. siptest.RunHooks tests it.
type Hooks interface {
	// CheckURL returns CodeBadRequest, without a field, for a URL to which no request may be sent: it is malformed, is not
	// HTTP, or names a forbidden address.
	CheckURL(url string) error
	// SendNotice posts a notice, signed for its organization. A retry has the same ID and is posted again. It returns CodeForbidden
	// for a forbidden URL, and for a permanent refusal by the server: a status from 300 to 499 other than 408 and 429. After any
	// other error (no connection, 408, 429, 500 and above) the caller retries, not before the error's RetryAfter. Messages of
	// errors do not contain the URL.
	SendNotice(ctx context.Context, url string, n Notice) error
}

// States holds the states of a trunk's alerts by kind. The state of a missing kind is the zero State.
type States map[Kind]State

// State is the state of one alert.
type State struct {
	Raised      bool      // a notice has raised the alert, and none has resolved it
	TriggeredAt time.Time // when it was last raised
	ResolvedAt  time.Time // when it was last resolved; zero: raised, or never
	Since       time.Time // start of the time in which the threshold is crossed; zero: it is not
	ClearSince  time.Time // of a raised alert: start of the time in which the threshold is not crossed; zero: it is
	Edges       int       // notices so far, for their ids
}
