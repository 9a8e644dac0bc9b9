package alert

import (
	"context"
	"time"

	"github.com/callwright/callwright"
)

// Kind is what an alert is about.
type Kind string

// The kinds.
const (
	Unreachable  Kind = "unreachable"
	FailureRate  Kind = "failure_rate"
	ResponseTime Kind = "response_time"
)

// Config says when to warn, and how.
type Config struct {
	Enabled    bool
	Thresholds Thresholds
	Channels   Channels
}

// Thresholds are the bounds beyond which an alert is raised; a zero one is never crossed.
type Thresholds struct {
	Unreachable       time.Duration // for how long a server of the trunk has been unreachable
	FailureRate       float64       // percent of attempts that failed for technical reasons
	FailureRateWindow time.Duration // 0: 15 minutes
	ResponseTime      time.Duration // mean of the last probes
}

// Channels are the ways to warn somebody.
type Channels struct {
	Email   bool
	SMS     bool
	Webhook string // a URL; empty: none
}

// Notice is one edge of an alert, as it is told.
type Notice struct {
	ID          string // the same for every delivery of this edge
	Org         callwright.OrgID
	Kind        Kind
	Number      callwright.PhoneNumber
	Direction   string
	Value       float64 // minutes, percent or milliseconds, as the kind says
	Threshold   float64 // likewise
	TriggeredAt time.Time
	ResolvedAt  *time.Time // nil: it goes on
}

// Mailer sends mail.
type Mailer interface {
	// SendMail sends plain text. id is the same when a message is sent again. An error means that it should be tried
	// again; an address that is refused for good is logged and no error.
	SendMail(ctx context.Context, id, to, subject, text string) error
}

// Texter sends short messages to telephones. No build comes with one.
type Texter interface {
	// SendText sends a text to the organization's contacts. Errors are those of SendMail.
	SendText(ctx context.Context, org callwright.OrgID, id, text string) error
}

// Hooks sends notices to URLs.
type Hooks interface {
	// CheckURL refuses an address to which nothing may be sent; CodeBadRequest without a field.
	CheckURL(url string) error
	// SendNotice posts a notice, signed for its organization. Errors are those of SendMail.
	SendNotice(ctx context.Context, url string, n Notice) error
}

// States is where the alerts of a trunk stand, by kind. A kind that was never raised is absent.
type States map[Kind]State

// State is where one alert stands.
type State struct {
	Raised      bool      // somebody was told, and not yet that it is over
	TriggeredAt time.Time // of the last edge up
	ResolvedAt  time.Time // of the last edge down; zero: it goes on
	Since       time.Time // since when the threshold is crossed; zero: it is not
	ClearSince  time.Time // since when it is not, while the alert is raised; zero: it is
	Edges       int       // told so far, for the edges' ids
}
