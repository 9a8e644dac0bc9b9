package callwright

import "context"

// Mailer sends mail. callwrighttest.RunMailer tests it.
type Mailer interface {
	// SendMail sends a plain text in UTF-8 to one address. id is an idempotency key: a retry has the same one. CodeForbidden: the
	// message can never be sent; its address or its subject is malformed, or the mail server refuses it for good. Any other error
	// asks for a retry.
	SendMail(ctx context.Context, id, to, subject, text string) error
}
