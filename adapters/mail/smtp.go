package mail

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"net/url"
	"strconv"
	"time"

	gomail "github.com/wneessen/go-mail"

	"github.com/callwright/callwright"
)

// SMTPConfig is what an SMTP needs.
type SMTPConfig struct {
	// URL is smtp://user:password@host:port or smtps://user:password@host:port; user and port may be missing. With smtps
	// the connection is TLS from the start (port 465), with smtp by STARTTLS (port 587), without which nothing is sent;
	// only with a server on this very machine is smtp plain.
	URL    callwright.Secret
	From   string           // the sender's address; empty: the URL's user, where that is an address
	Roots  *x509.CertPool   // what the server's certificate may chain to; nil: the system's
	Clock  callwright.Clock // nil: the machine's
	Logger *slog.Logger     // nil: discards
}

// SMTP sends mail through a server. It is alert.Mailer.
type SMTP struct {
	SMTPConfig
	host    string
	options []gomail.Option
}

// patience is how long a server may take for a message.
const patience = 10 * time.Second

// NewSMTP checks the configuration. It does not connect.
func NewSMTP(c SMTPConfig) (*SMTP, error) { return newSMTP(c, loopback) }

func newSMTP(c SMTPConfig, plain func(host string) bool) (*SMTP, error) {
	u, err := url.Parse(c.URL.Reveal())
	if err != nil || u.Hostname() == "" || u.Scheme != "smtp" && u.Scheme != "smtps" {
		return nil, errors.New("mail: the URL must begin with smtp:// or smtps:// and name a host")
	}
	c.From = cmp.Or(c.From, u.User.Username())
	if _, err := address(c.From); err != nil {
		return nil, fmt.Errorf("mail: From: %w", err)
	}
	c.Clock, c.Logger = defaults(c.Clock, c.Logger)
	s := &SMTP{SMTPConfig: c, host: u.Hostname(), options: []gomail.Option{
		gomail.WithTimeout(patience),
		gomail.WithTLSConfig(&tls.Config{MinVersion: tls.VersionTLS12, ServerName: u.Hostname(), RootCAs: c.Roots}),
	}}
	port, auth := 587, gomail.SMTPAuthAutoDiscover
	switch {
	case u.Scheme == "smtps":
		port = 465
		s.options = append(s.options, gomail.WithSSL())
	case plain(s.host):
		auth = gomail.SMTPAuthPlainNoEnc
		s.options = append(s.options, gomail.WithTLSPolicy(gomail.NoTLS))
	default:
		s.options = append(s.options, gomail.WithTLSPolicy(gomail.TLSMandatory))
	}
	if u.Port() != "" {
		if port, err = strconv.Atoi(u.Port()); err != nil {
			return nil, errors.New("mail: the URL's port is none")
		}
	}
	s.options = append(s.options, gomail.WithPort(port))
	if password, ok := u.User.Password(); ok {
		s.options = append(s.options,
			gomail.WithSMTPAuth(auth), gomail.WithUsername(u.User.Username()), gomail.WithPassword(password))
	}
	if _, err := gomail.NewClient(s.host, s.options...); err != nil {
		return nil, fmt.Errorf("mail: %w", err)
	}
	return s, nil
}

// loopback says whether a host is this machine.
func loopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}

// SendMail sends a message. What the server refuses for good, with a 5xx to the message or one of its addresses, is
// logged and not tried again.
func (s *SMTP) SendMail(ctx context.Context, id, to, subject, text string) error {
	message, err := compose(s.From, id, to, subject, text, s.Clock.Now())
	if err != nil {
		s.Logger.ErrorContext(ctx, "mail refused", "id", id, "error", err)
		return nil
	}
	client, err := gomail.NewClient(s.host, s.options...)
	if err != nil {
		return unavailable(err)
	}
	err = client.DialAndSendWithContext(ctx, message)
	if err == nil || message.IsDelivered() {
		return nil // an error after that is about the farewell
	}
	if refusal, ok := errors.AsType[*gomail.SendError](err); ok && !refusal.IsTemp() && refusal.ErrorCode() >= 500 {
		s.Logger.ErrorContext(ctx, "mail refused", "id", id, "error", err)
		return nil
	}
	return unavailable(err)
}
