package callwright

import "context"

// Mailer sends mail. callwrighttest.RunMailer tests it.
type Mailer interface {
	// SendMail sends a plain text in UTF-8 to one address. The recipient gets the subject and the text unchanged, including
	// non-ASCII letters, lines of a single dot, and lines that begin with "From ". id is an idempotency key: a retry with the same
	// id succeeds, and may send the mail again. CodeForbidden: the message can never be sent, and was not: its address is empty,
	// malformed or more than one, the address or the subject contains a line break, or the mail server refuses it permanently.
	// After any other error the caller retries.
	SendMail(ctx context.Context, id, to, subject, text string) error
}
