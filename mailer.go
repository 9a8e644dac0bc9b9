package callwright

import "context"

// Mailer sends mail. callwrighttest.RunMailer tests it.
type Mailer interface {
	// SendMail sends a plain text in UTF-8 to one address. The recipient reads the subject and the text as they were given, also
	// letters beyond ASCII, lines that are a single dot, and lines that begin with "From ". id is an idempotency key: a retry has the
	// same one, succeeds, and may be sent again. CodeForbidden: the message can never be sent, and is not; its address is empty,
	// malformed or more than one, the address or the subject holds a line break, or the mail server refuses it for good. Any other
	// error asks for a retry.
	SendMail(ctx context.Context, id, to, subject, text string) error
}
