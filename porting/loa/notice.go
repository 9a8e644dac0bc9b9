package loa

import (
	"fmt"
	"strings"
)

// notice returns the subject and the text of a mail about a letter, with page as the link.
func (l Letter) notice(kind mailKind, page string) (subject, text string) {
	c := l.Content
	numbers := counted(len(c.Numbers), "phone number")
	var b strings.Builder
	fmt.Fprintf(&b, "Dear %s,\n\n", c.signer())
	switch kind {
	case mailSigned:
		subject = "You have signed the port of " + numbers
		fmt.Fprintf(&b, "You have signed the letter of authorization for the account of %s. %s will now be ported to the new provider.\n\n",
			c.customer(), numbers)
		fmt.Fprintf(&b, "Download your signed copy, and keep it:\n\n  %s\n", page)
		fmt.Fprintf(&b, "\nSHA-256 of the signed copy:\n\n  %s\n", l.SignedSHA256)
	case mailReminder:
		subject = "Reminder: please sign or decline the port of " + numbers
		b.WriteString("A letter of authorization still waits for you to sign or decline it.\n\n")
		l.ask(&b, page)
	default:
		subject = "Please sign or decline the port of " + numbers
		l.ask(&b, page)
	}
	b.WriteString("\nNumbers:\n")
	for _, n := range c.Numbers {
		fmt.Fprintf(&b, "  %s\n", n)
	}
	fmt.Fprintf(&b, "\nRequest: %s\n", c.Request)
	return subject, b.String()
}

// ask writes the paragraphs that ask the signer to sign or decline.
func (l Letter) ask(b *strings.Builder, page string) {
	fmt.Fprintf(b, "%s asked to move the phone numbers below to another provider, and named you as the person who may authorize that.\n\n",
		l.Content.customer())
	fmt.Fprintf(b, "Read the letter of authorization, and sign or decline it, here:\n\n  %s\n\n", page)
	fmt.Fprintf(b, "The link works until %s. It is meant for you alone: whoever has it can sign, so do not pass this mail on.\n\n",
		l.SignBy.UTC().Format("2 January 2006, 15:04 MST"))
	b.WriteString("You do not have to do anything. If you know nothing of this, or do not want it, decline there or ignore this mail: no number is moved without your signature.\n")
}
