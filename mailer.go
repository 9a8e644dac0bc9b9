package callwright

import "context"

// Mailer sends mail. callwrighttest.RunMailer tests implementations.
type Mailer interface {
	// SendMail sends a plain text in UTF-8 to one address. The recipient receives the subject and the text unchanged, including non-ASCII
	// letters, lines of a single dot, and lines that begin with "From ". id is an idempotency key: a retry with the same id succeeds, but
	// may send the mail again.
	//
	// CodeForbidden means that the message was not sent and can never be sent, for one of these reasons:
	//
	//   - The parameter to is empty, malformed or more than one address.
	//   - The address or the subject contains a line break.
	//   - The mail server refuses the message permanently.
	//
	// After any other error the caller retries.
	SendMail(ctx context.Context, id, to, subject, text string) error
}
