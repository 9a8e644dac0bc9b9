package loa

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/porting"
)

// Config configures a Service.
type Config struct {
	Store    Store                     `required:"always"`
	Atomic   callwright.Atomic         `required:"always"` // transactions of the store
	Work     callwright.Work           `required:"always"` // runs the tasks that send mail
	Mailer   callwright.Mailer         `required:"always"`
	Renderer Renderer                  `required:"always"`
	Provider string                    `required:"always"` // name of the new provider in letters, at most MaxName characters
	Key      callwright.Secret         `required:"always"` // at least MinKey bytes, the same on all nodes; changing it invalidates all links
	URL      func(token string) string `required:"always"` // returns the address of the signing page
	MailOnly bool                      // only the mail to the signer contains the link; SendLetter and ResendLetter do not return it

	callwright.Runtime
}

// Limits of Config and of letters.
const (
	MinKey     = 32 // minimum length of Config.Key in bytes
	MaxResends = 5  // maximum number of links that may replace a letter's first link
)

// The kinds of durable work, with the interval and the limit of reminders.
const (
	taskMail   = "loa.mail"
	taskRemind = "loa.remind"

	remindEvery = 10 * time.Minute
	remindBatch = 500 // maximum number of letters per run
)

// Service sends letters of authorization and collects their signatures. It implements porting.Letters.
type Service struct {
	cfg      Config
	requests atomic.Pointer[Requests]
}

var _ porting.Letters = (*Service)(nil)

// New returns a service, and registers its durable work with c.Work. It returns an error if the configuration is invalid. Call Attach
// before using the service.
func New(c Config) (*Service, error) {
	if err := callwright.PrepareConfig(&c); err != nil {
		return nil, err
	}
	switch {
	case callwright.Longer(c.Provider, MaxName):
		return nil, fmt.Errorf("loa: Config.Provider must have at most %d characters", MaxName)
	case len(c.Key.Reveal()) < MinKey:
		return nil, fmt.Errorf("loa: Config.Key must have at least %d bytes", MinKey)
	}
	s := &Service{cfg: c}
	callwright.TaskKind[mailArgs](taskMail).Handle(c.Work, callwright.QueueMail, c.Logger, s.mail)
	c.Work.Every(callwright.QueueUpkeep, taskRemind, remindEvery, s.remind)
	return s, nil
}

// Attach sets the service that updates port requests when their letters are signed, declined or undeliverable.
//
// Call it once in the program that connects the services: after porting.New, which needs this Service as its Letters, and before the
// program runs durable work or serves signing pages. Until then Sign and Decline return CodeUnavailable and change nothing, and a mail that
// the mail server refuses is retried later. A program without signing pages, such as an operator's command, need not call Attach.
func (s *Service) Attach(r Requests) { s.requests.Store(&r) }

// attached returns the attached Requests, or CodeUnavailable if Attach was not called yet.
func (s *Service) attached() (Requests, error) {
	r := s.requests.Load()
	if r == nil {
		return nil, callwright.Errorf(callwright.CodeUnavailable, "the service for port requests is still starting: try again")
	}
	return *r, nil
}

// token returns the secret token of a link. It is derived from Config.Key, for two reasons: a mail can be sent again although only the
// token's hash is stored, and the database alone does not reveal the token.
func (s *Service) token(org callwright.OrgID, request string, link int) string {
	mac := hmac.New(sha256.New, []byte(s.cfg.Key.Reveal()))
	fmt.Fprintf(mac, "callwright.loa.link.1:%q:%q:%d", org, request, link)
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// linkHash returns the hash of a token, as stored in Letter.LinkHash.
func linkHash(token string) string { return hashOf([]byte(token)) }

// page returns the URL of a letter's signing page, with the current token.
func (s *Service) page(l Letter) string { return s.cfg.URL(s.token(l.Org, l.Request, l.Link)) }

// sent returns the letter for the caller of SendLetter or ResendLetter. It omits the link if MailOnly is set.
func (s *Service) sent(l Letter) porting.Letter {
	if s.cfg.MailOnly {
		return porting.Letter{}
	}
	return porting.Letter{URL: callwright.Secret(s.page(l))}
}

// store updates a letter, appends events, and calls the function then unless it is nil, all in one transaction. On success it increments
// l.Revision.
func (s *Service) store(ctx context.Context, l *Letter, signed []byte, events []Event, then func(ctx context.Context) error) error {
	err := s.cfg.Atomic.Do(ctx, func(ctx context.Context) error {
		if err := s.cfg.Store.UpdateLetter(ctx, *l, signed, events...); err != nil {
			return err
		}
		if then == nil {
			return nil
		}
		return then(ctx)
	})
	if err == nil {
		l.Revision++
	}
	return err
}
