package callwrighttest

import (
	"errors"
	"slices"
	"testing"

	"github.com/callwright/callwright"
)

// Mail is a sent message in decoded form, as its recipient reads it.
type Mail struct{ To, Subject, Text string }

// Mailbox is a callwright.Mailer under test, with a function that returns its messages.
type Mailbox struct {
	Mailer callwright.Mailer
	Sent   func(t *testing.T) []Mail // returns the decoded messages in the order of sending; every line ends with "\n"
}

// RunMailer tests a callwright.Mailer. newMailbox must return a Mailbox that has sent nothing.
func RunMailer(t *testing.T, newMailbox func(t *testing.T) Mailbox) {
	t.Helper()
	const to = "ops@example.com"
	t.Run("sends any text", func(t *testing.T) {
		t.Parallel()
		box := newMailbox(t)
		want := Mail{to, "Störung \u2603", "Der Zähler steht.\n.\n..\nFrom here\n\nEnde\n"}
		if err := box.Mailer.SendMail(t.Context(), "t1.unreachable.1", want.To, want.Subject, want.Text); err != nil {
			t.Fatal(err)
		}
		if sent := box.Sent(t); !slices.Equal(sent, []Mail{want}) {
			t.Errorf("sent %q, want %q", sent, want)
		}
	})
	t.Run("sends a message again", func(t *testing.T) {
		t.Parallel()
		box := newMailbox(t)
		for range 2 {
			if err := box.Mailer.SendMail(t.Context(), "t1.unreachable.1", to, "s", "text\n"); err != nil {
				t.Error(err)
			}
		}
		if sent := box.Sent(t); len(sent) == 0 || len(sent) > 2 {
			t.Errorf("sent %q", sent)
		}
	})
	t.Run("refuses what can never be sent", func(t *testing.T) {
		t.Parallel()
		box := newMailbox(t)
		for name, m := range map[string]Mail{
			"no address":               {To: "", Subject: "s"},
			"two addresses":            {To: to + ", all@example.com", Subject: "s"},
			"a header in the address":  {To: to + "\r\nBcc: all@example.com", Subject: "s"},
			"a header in the subject":  {To: to, Subject: "s\r\nBcc: all@example.com"},
			"a newline in the subject": {To: to, Subject: "s\ns"},
		} {
			if err := box.Mailer.SendMail(t.Context(), "t1.unreachable.1", m.To, m.Subject, "text\n"); !errors.Is(err, callwright.ErrForbidden) {
				t.Errorf("%s: %v, want CodeForbidden", name, err)
			}
		}
		if sent := box.Sent(t); len(sent) > 0 {
			t.Errorf("sent %q", sent)
		}
	})
}
