package mail

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strconv"
	"time"

	gomail "github.com/wneessen/go-mail"

	"github.com/callwright/callwright"
)

// SMTPConfig configures an SMTP.
type SMTPConfig struct {
	// URL is smtp://user:password@host:port or smtps://user:password@host:port. User, password and port are optional. Without a password,
	// SMTP does not authenticate.
	//
	// smtps uses TLS from the start, and its default port is 465. smtp requires STARTTLS, and its default port is 587. smtp sends without
	// encryption only to a server on the loopback interface.
	URL callwright.Secret `required:"always"`

	From  string         // the sender's address; if empty, the user of the URL, which must be an address
	Roots *x509.CertPool // the trusted root certificates; nil means the roots of the system

	callwright.Runtime
}

// SMTP sends mail through a server; it implements callwright.Mailer. Each message uses a new connection.
type SMTP struct {
	cfg     SMTPConfig
	host    string
	options []gomail.Option
}

// patience is the timeout of the connection to the server.
const patience = 10 * time.Second

// NewSMTP checks the configuration, and returns an SMTP. It does not connect to the server.
func NewSMTP(c SMTPConfig) (*SMTP, error) { return newSMTP(c, loopback) }

func newSMTP(c SMTPConfig, plain func(host string) bool) (*SMTP, error) {
	if err := callwright.PrepareConfig(&c); err != nil {
		return nil, err
	}
	u, err := url.Parse(c.URL.Reveal())
	if err != nil || u.Hostname() == "" || u.Scheme != "smtp" && u.Scheme != "smtps" {
		return nil, errors.New("mail: SMTPConfig.URL must have the form smtp://user:password@host:port or smtps://user:password@host:port: " +
			"user, password and port are optional, and special characters of user and password must be percent-encoded")
	}
	c.From = cmp.Or(c.From, u.User.Username())
	if _, err := address(c.From); err != nil {
		return nil, fmt.Errorf("mail: SMTPConfig.From, or else the user of SMTPConfig.URL, must be the sender: %w", err)
	}
	c.URL = "" // fmt would print the Secret of an unexported field in plain text; the options hide the password in a closure
	s := &SMTP{cfg: c, host: u.Hostname(), options: []gomail.Option{
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
		if port, err = strconv.Atoi(u.Port()); err != nil || port < 1 || port > 65535 {
			return nil, errors.New("mail: SMTPConfig.URL: the port must be a number from 1 to 65535")
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

// loopback reports whether a host is localhost or a loopback address.
func loopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}

// SendMail sends a message. It logs a permanent refusal, and returns CodeForbidden for it: a 5xx reply to the message or to one of its
// addresses, or an invalid message. It returns CodeUnavailable for all other failures, which a retry may resolve. Logs and errors contain
// only the codes of the server's replies.
func (s *SMTP) SendMail(ctx context.Context, id, to, subject, text string) error {
	message, err := compose(s.cfg.From, id, to, subject, text, s.cfg.Clock.Now())
	if err != nil {
		s.cfg.Logger.ErrorContext(ctx, "mail refused", "id", id, "error", err)
		return refused(err)
	}
	client, err := gomail.NewClient(s.host, s.options...)
	if err != nil {
		return unavailable(err)
	}
	err = client.DialAndSendWithContext(ctx, message)
	if err == nil || message.IsDelivered() {
		return nil // after delivery, only QUIT can have failed
	}
	told := withoutWords(err)
	if refusal, ok := errors.AsType[*gomail.SendError](err); ok && !refusal.IsTemp() && refusal.ErrorCode() >= 500 {
		s.cfg.Logger.ErrorContext(ctx, "mail refused", "id", id, "error", told)
		return refused(told)
	}
	return unavailable(told)
}
