package alert

import (
	"context"
	"net/url"
	"time"

	"github.com/callwright/callwright"
)

// Kind distinguishes the alerts of a trunk by the threshold that raises them.
type Kind string

// The kinds of a trunk's alerts.
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

// Thresholds are the values that raise an alert when they are reached. A zero threshold raises no alert.
type Thresholds struct {
	Unreachable       time.Duration // minimum time for which a server of the trunk is unreachable
	FailureRate       float64       // percentage of attempts that fail for technical reasons
	FailureRateWindow time.Duration // 0 means 15 minutes
	ResponseTime      time.Duration // mean response time of the last answered probes
}

// Channels selects the channels over which notices are sent.
type Channels struct {
	Email   bool
	SMS     bool
	Webhook string // URL; empty if none
}

// Channel is a medium over which notices are sent.
type Channel string

// The channels over which notices can be sent.
const (
	ByMail    Channel = "email"
	ByText    Channel = "sms"
	ByWebhook Channel = "webhook"
)

// Enabled returns the channels that are selected.
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

// WebhookHost returns the scheme and the host of the webhook, without its user, path and query, which may contain a key. It returns "" if
// no webhook is set or its URL is invalid.
func (c Channels) WebhookHost() string {
	to, err := url.Parse(c.Webhook)
	if err != nil || to.Host == "" {
		return ""
	}
	return to.Scheme + "://" + to.Host
}

// Notice is the message that an alert was raised or resolved.
type Notice struct {
	ID          string // idempotency key: the same for all deliveries of this notice
	Org         callwright.OrgID
	Kind        Kind
	Number      callwright.PhoneNumber
	Direction   string
	Value       float64 // measured value, in minutes, percent or milliseconds, depending on Kind
	Threshold   float64 // in the same unit as Value
	TriggeredAt time.Time
	ResolvedAt  *time.Time // nil if the alert was raised
	Others      int        // number of further phone numbers with the same servers and alerts, which this notice covers
}

// Texter sends SMS. No adapter in this repository implements it. siptest.RunTexter tests it.
type Texter interface {
	// SendText sends a text, unchanged, to the organization's contacts. id is an idempotency key: a retry with the same id succeeds, but
	// may send the text again. After an error the caller retries.
	SendText(ctx context.Context, org callwright.OrgID, id, text string) error
}

// Hooks sends notices to webhooks. siptest.RunHooks tests it.
type Hooks interface {
	// CheckURL returns CodeBadRequest, without a field, if no request may be sent to a URL: because the URL is malformed, is not HTTP, or
	// names a forbidden address.
	CheckURL(url string) error
	// SendNotice posts a notice, signed for its organization. A retry with the same ID is posted again. SendNotice returns CodeForbidden if
	// the URL is forbidden or the server refuses permanently, with a status from 300 to 499 other than 408 and 429. After any other error
	// (no connection, 408, 429, 500 and above) the caller retries, but not before the error's RetryAfter. Error messages do not contain the
	// URL.
	SendNotice(ctx context.Context, url string, n Notice) error
}

// States maps the kinds of a trunk's alerts to their states. A missing kind has the zero State.
type States map[Kind]State

// State is the state of one alert.
type State struct {
	Raised      bool      // the alert was raised, and is not resolved yet
	TriggeredAt time.Time // time at which it was last raised
	ResolvedAt  time.Time // time at which it was last resolved; zero if raised or never resolved
	Since       time.Time // time since which the threshold is crossed; zero if it is not
	ClearSince  time.Time // if raised, time since which the threshold is not crossed; zero if it is
	Edges       int       // number of notices so far, used in their ids
}
