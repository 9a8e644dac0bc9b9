package mail

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/textproto"

	gomail "github.com/wneessen/go-mail"
)

// withoutWords returns an error of an SMTP session in a form that is safe for logs and tasks. Of the server's replies, it contains only the
// codes, because some servers repeat the credentials that they refuse.
func withoutWords(err error) error {
	if e, ok := errors.AsType[*gomail.SendError](err); ok {
		if e.ErrorCode() != 0 {
			return fmt.Errorf("%s: the server answered %d", e.Reason, e.ErrorCode())
		}
		return fmt.Errorf("%s: %w", e.Reason, cause(err))
	}
	return fmt.Errorf("cannot open a session with the server: %w", cause(err))
}

// errSession replaces the errors about a session that cause does not recognize, because their texts may quote the server.
var errSession = errors.New("the server must send a greeting, offer STARTTLS (unless the URL is smtps or the server is on this machine) and accept the credentials")

// cause returns the cause of an error, without any text of the server. It returns errSession for unknown errors.
func cause(err error) error {
	if e, ok := errors.AsType[*textproto.Error](err); ok {
		return fmt.Errorf("it answered %d", e.Code)
	}
	if e, ok := errors.AsType[*net.OpError](err); ok {
		return e
	}
	if e, ok := errors.AsType[*net.DNSError](err); ok {
		return e
	}
	if e, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return e
	}
	for _, known := range []error{context.Canceled, context.DeadlineExceeded} {
		if errors.Is(err, known) {
			return known
		}
	}
	return errSession
}
