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
	Work     callwright.Work           `required:"always"` // sends mail
	Mailer   callwright.Mailer         `required:"always"`
	Renderer Renderer                  `required:"always"`
	Provider string                    `required:"always"` // name of the new provider, which letters designate, at most MaxName characters
	Key      callwright.Secret         `required:"always"` // at least MinKey bytes, the same on all nodes; links of another key end
	URL      func(token string) string `required:"always"` // returns the address of the signing page
	MailOnly bool                      // the link is mailed to the signer, and SendLetter and ResendLetter do not return it

	callwright.Runtime
}

// The limits of letters.
const (
	MinKey     = 32 // bytes of Config.Key
	MaxResends = 5  // further links to a letter after the first
)

// The kinds of durable work, and its times.
const (
	taskMail   = "loa.mail"
	taskRemind = "loa.remind"

	remindEvery = 10 * time.Minute
	remindBatch = 500 // letters that one run checks
)

// Service sends letters and collects signatures.
type Service struct {
	cfg      Config
	requests atomic.Pointer[Requests]
}

var _ porting.Letters = (*Service)(nil)

// New checks the configuration and registers durable work with c.Work.
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

// Attach names the service that advances port requests when their letters are signed, declined or cannot be delivered.
//
// Call it once in the program that joins the services: after porting.New, which needs this Service as its Letters, and before the
// durable work runs and signing pages are served. Until then Sign and Decline return CodeUnavailable, and change nothing; a mail
// that the mail server refuses is tried again later. A program without signing pages, such as an operator's command, need not call
// it.
func (s *Service) Attach(r Requests) { s.requests.Store(&r) }

// attached returns the attached Requests. CodeUnavailable: none yet.
func (s *Service) attached() (Requests, error) {
	r := s.requests.Load()
	if r == nil {
		return nil, callwright.Errorf(callwright.CodeUnavailable, "port requests have not started: try again")
	}
	return *r, nil
}

// token returns the secret of a link. It is derived from the key: a mail can be sent again although only the token's hash is
// stored, and the database alone does not reveal it.
func (s *Service) token(org callwright.OrgID, request string, link int) string {
	mac := hmac.New(sha256.New, []byte(s.cfg.Key.Reveal()))
	fmt.Fprintf(mac, "callwright.loa.link.1:%q:%q:%d", org, request, link)
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// linkHash returns the stored hash of a token.
func linkHash(token string) string { return hashOf([]byte(token)) }

// page returns the address of the signing page of a letter.
func (s *Service) page(l Letter) string { return s.cfg.URL(s.token(l.Org, l.Request, l.Link)) }

// sent returns the letter for the caller that requested it.
func (s *Service) sent(l Letter) porting.Letter {
	if s.cfg.MailOnly {
		return porting.Letter{}
	}
	return porting.Letter{URL: callwright.Secret(s.page(l))}
}

// store stores a letter with new events and the work that they cause, in a transaction. A nil then means no work.
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
