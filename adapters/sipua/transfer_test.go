package sipua_test

import (
	"strings"
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/call"
)

func TestTransferOnTheWire(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		to, refer string
		accept    int
		notify    string
		ok        bool
	}{
		"number":    {"+15550100009", "sip:+15550100009@peer.test", 202, "SIP/2.0 200 OK", true},
		"tel URI":   {"tel:+15550100009;ext=7", "tel:+15550100009;ext=7", 202, "SIP/2.0 200 OK", true},
		"busy":      {"sip:x@example.test;transport=tls", "sip:x@example.test;transport=tls", 202, "SIP/2.0 486 Busy Here", false},
		"forbidden": {"sip:x@example.test", "sip:x@example.test", 403, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, c, legs := taking(t)
			c.connected()
			l := legOf(t, legs)
			result := make(chan error, 1)
			ctx := within(t)
			go func() { result <- l.Transfer(ctx, tt.to) }()
			refer := c.request("REFER")
			if refer.get("Refer-To") != "<"+tt.refer+">" || !strings.Contains(refer.get("Referred-By"), bob.String()) {
				t.Errorf("%v", refer.header)
			}
			c.reply(refer, tt.accept, "", "")
			if tt.notify != "" {
				c.ask("NOTIFY", "SIP/2.0 100 Trying\r\n", "Event: refer", "Subscription-State: active;expires=60")
				c.response(200)
				c.ask("NOTIFY", tt.notify+"\r\n", "Event: refer", "Subscription-State: terminated;reason=noresource")
				c.response(200)
			}
			if err := <-result; (err == nil) != tt.ok {
				t.Errorf("%v", err)
			}
			if !tt.ok {
				c.ask("BYE", "")
				c.response(200)
				if e := ends(t, l); e.Cause != call.CauseRemoteHangup {
					t.Errorf("%+v", e)
				}
				return
			}
			c.reply(c.request("BYE"), 200, "", "") // sent one second after the transfer
			if e := ends(t, l); e.Cause != call.CauseTransferred {
				t.Errorf("%+v", e)
			}
		})
	}
}

func TestTransferToNonsense(t *testing.T) {
	t.Parallel()
	_, c, legs := taking(t)
	c.connected()
	l := legOf(t, legs)
	for _, to := range []string{"", "bob", "http://x", "sip:a@b\r\nX: y"} {
		if err := l.Transfer(within(t), to); callwright.CodeOf(err) != callwright.CodeBadRequest {
			t.Errorf("%q: %v", to, err)
		}
	}
	c.ask("BYE", "")
	c.response(200)
	ends(t, l)
	if err := l.Transfer(within(t), alice.String()); err == nil {
		t.Error("a call that is over was transferred")
	}
}

// TestTransferOfACallOut checks that the Refer-To of an outbound call contains the port of the trunk's server, which the To does not
// contain.
func TestTransferOfACallOut(t *testing.T) {
	t.Parallel()
	p := place(t, nil)
	p.peer.reply(p.invite, 200, "x", answerSDP())
	p.peer.request("ACK")
	l := p.leg()
	go func() { _ = l.Transfer(within(t), "+15550100009") }()
	refer := p.peer.request("REFER")
	if want := "<sip:+15550100009@" + p.peer.conn.LocalAddr().String() + ">"; refer.get("Refer-To") != want {
		t.Errorf("Refer-To is %q, not %q", refer.get("Refer-To"), want)
	}
	p.peer.reply(refer, 603, "", "")
}
