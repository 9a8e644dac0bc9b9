package baresip

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/callwright/callwright/internal/await"
)

// Event is an event at a phone, by baresip's name: CALL_INCOMING, CALL_RINGING, CALL_ESTABLISHED, CALL_MENC (the media are encrypted),
// CALL_DTMF_START, CALL_CLOSED and others.
type Event struct {
	Type      string `json:"type"`
	Direction string `json:"direction"` // direction of the call: incoming or outgoing
	Peer      string `json:"peeruri"`
	CallID    string `json:"id"`
	Param     string `json:"param"` // reason of CALL_CLOSED; digit of CALL_DTMF_START
}

// reply is the answer to a command.
type reply struct {
	OK    bool   `json:"ok"`
	Data  string `json:"data"`
	Token string `json:"token"`
}

// longestMessage is the maximum length of a netstring in bytes.
const longestMessage = 1 << 20

// control is a connection to baresip's ctrl_tcp module, which exchanges JSON in netstrings.
type control struct {
	conn net.Conn

	mu      sync.Mutex
	sent    int
	events  []Event
	replies map[string]reply
	broken  error
}

// dialControl connects to baresip, which serves only the latest control connection.
func dialControl(ctx context.Context, addr netip.AddrPort) (*control, error) {
	dialer := net.Dialer{Timeout: time.Second}
	conn, err := dialer.DialContext(ctx, "tcp", addr.String())
	if err != nil {
		return nil, err
	}
	c := &control{conn: conn, replies: map[string]reply{}}
	go c.read()
	return c, nil
}

func (c *control) close() { _ = c.conn.Close() }

// read stores events and replies until the connection fails.
func (c *control) read() {
	in := bufio.NewReader(c.conn)
	for {
		message, err := readNetstring(in)
		if err == nil {
			err = c.handle(message)
		}
		if err != nil {
			c.mu.Lock()
			c.broken = err
			c.mu.Unlock()
			return
		}
	}
}

// handle decodes and stores one event or reply.
func (c *control) handle(message []byte) error {
	var m struct {
		IsEvent bool `json:"event"`
		Event
		reply
	}
	if err := json.Unmarshal(message, &m); err != nil {
		return fmt.Errorf("%w in %q", err, message)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if m.IsEvent {
		c.events = append(c.events, m.Event)
	} else {
		c.replies[m.Token] = m.reply
	}
	return nil
}

// send sends a command and returns the token that its reply will contain.
func (c *control) send(command, params string) (token string, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sent++
	token = strconv.Itoa(c.sent)
	message, err := json.Marshal(map[string]string{"command": command, "params": params, "token": token})
	if err != nil {
		return "", err
	}
	_, err = c.conn.Write(appendNetstring(nil, message))
	return token, err
}

// answer returns the reply to a command and whether it has arrived. err is the error that broke the connection, if any.
func (c *control) answer(token string) (r reply, ok bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r, ok = c.replies[token]
	return r, ok, c.broken
}

func appendNetstring(dst, payload []byte) []byte {
	dst = strconv.AppendInt(dst, int64(len(payload)), 10)
	dst = append(dst, ':')
	dst = append(dst, payload...)
	return append(dst, ',')
}

func readNetstring(in *bufio.Reader) ([]byte, error) {
	head, err := in.ReadString(':')
	if err != nil {
		return nil, err
	}
	n, err := strconv.Atoi(strings.TrimSuffix(head, ":"))
	if err != nil || n < 0 || n > longestMessage {
		return nil, fmt.Errorf("no length of a netstring: %q", head)
	}
	payload := make([]byte, n+1)
	if _, err := io.ReadFull(in, payload); err != nil {
		return nil, err
	}
	if payload[n] != ',' {
		return nil, errors.New("a netstring without its comma")
	}
	return payload[:n], nil
}

// Do runs a command as if it were entered at the phone, waits for the reply and returns it. It fails the test if baresip refuses the
// command.
func (p *Phone) Do(t testing.TB, command string, params ...string) string {
	t.Helper()
	token, err := p.control.send(command, strings.Join(params, " "))
	if err != nil {
		t.Fatalf("telling baresip to %s: %v", command, err)
	}
	var r reply
	await.That(t, "baresip to "+command, func() bool {
		var ok bool
		r, ok, err = p.control.answer(token)
		return ok || err != nil
	})
	if err != nil {
		t.Fatalf("telling baresip to %s: the control connection is gone: %v", command, err)
	}
	if !r.OK {
		t.Fatalf("baresip refuses to %s: %s", command, r.Data)
	}
	return r.Data
}

// Events returns all events of a type so far, oldest first.
func (p *Phone) Events(kind string) []Event {
	p.control.mu.Lock()
	defer p.control.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(p.control.events), func(e Event) bool { return e.Type != kind })
}

// Await waits for the n-th event of a type since the phone's start, counted from 1, and returns it.
func (p *Phone) Await(t testing.TB, kind string, n int) Event {
	t.Helper()
	var events []Event
	await.That(t, fmt.Sprintf("event %d of type %s at baresip", n, kind), func() bool {
		events = p.Events(kind)
		return len(events) >= n
	})
	return events[n-1]
}

// Digits returns the DTMF digits that the phone has received.
func (p *Phone) Digits() string {
	var digits strings.Builder
	for _, e := range p.Events("CALL_DTMF_START") {
		digits.WriteString(e.Param)
	}
	return digits.String()
}
