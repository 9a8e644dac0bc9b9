package baresip

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/callwright/callwright/internal/await"
)

// Message is a SIP message in a phone's trace.
type Message struct {
	Transport string // TLS, TCP or UDP
	Sent      bool   // the phone sent it
	First     string // first line, such as "BYE sip:... SIP/2.0"
	Text      string // complete message, with "\n" line ends
}

// traced matches a message in baresip's output, between escape sequences for colors.
var traced = regexp.MustCompile(`(?s)\x1b\[36;1m#\n(\w+) (\S+) -> (\S+)\n(.*?)\x1b\[;m`)

// Messages returns the SIP messages that the phone has sent and received so far, oldest first.
func (p *Phone) Messages() []Message {
	// The phone's end of an inbound connection is its address. An outbound connection begins with a message of the phone, whose sender is
	// the phone's end.
	ours := map[string]bool{p.addr.String(): true}
	var messages []Message
	for _, m := range traced.FindAllStringSubmatch(p.Log(), -1) {
		from, to := m[2], m[3]
		if !ours[to] {
			ours[from] = true
		}
		text := strings.TrimSpace(strings.ReplaceAll(m[4], "\r\n", "\n"))
		first, _, _ := strings.Cut(text, "\n")
		messages = append(messages, Message{Transport: m[1], Sent: ours[from], First: first, Text: text})
	}
	return messages
}

// Received returns the received messages whose first line begins with the given text, such as a method or "SIP/2.0 486".
func (p *Phone) Received(first string) []Message {
	return slices.DeleteFunc(p.Messages(), func(m Message) bool { return m.Sent || !strings.HasPrefix(m.First, first) })
}

// Sent returns the sent messages whose first line begins with the given text.
func (p *Phone) Sent(first string) []Message {
	return slices.DeleteFunc(p.Messages(), func(m Message) bool { return !m.Sent || !strings.HasPrefix(m.First, first) })
}

// AwaitReceived waits until Received finds a message, and returns the last one. The trace may lag behind the events of Await.
func (p *Phone) AwaitReceived(t testing.TB, first string) Message {
	t.Helper()
	return awaitMessage(t, "baresip to receive "+first, func() []Message { return p.Received(first) })
}

// AwaitSent waits until Sent finds a message, and returns the last one. The trace may lag behind the events of Await.
func (p *Phone) AwaitSent(t testing.TB, first string) Message {
	t.Helper()
	return awaitMessage(t, "baresip to send "+first, func() []Message { return p.Sent(first) })
}

func awaitMessage(t testing.TB, condition string, find func() []Message) Message {
	t.Helper()
	var found []Message
	await.That(t, condition, func() bool {
		found = find()
		return len(found) > 0
	})
	return found[len(found)-1]
}
