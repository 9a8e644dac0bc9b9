package sipua_test

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright"
	trunk "github.com/callwright/callwright/sip"
)

// TestCallsToARegisteredContact checks that a registrar may call the registered Contact over a new connection from any address, and that
// calls to any other URI are refused.
func TestCallsToARegisteredContact(t *testing.T) {
	t.Parallel()
	a := newAgent(t, nil)
	a.routes.judge = func(to callwright.PhoneNumber, from trunk.Peer) error {
		if to != bob || from.Contact != inBob.ContactUser() {
			return callwright.ErrForbidden
		}
		return nil
	}
	address, accept := listenWire(t, "127.0.0.1")
	done := registering(t, a, bindingWith(t, address))
	w := accept()
	req := w.request("REGISTER")
	w.keeps(req, 60)
	if r := done(); r.err != nil {
		t.Fatal(r.err)
	}
	registeredURI := strings.Trim(contactIn(req), "<>")
	for name, uri := range map[string]string{
		"as it was registered": registeredURI,
		"escaped":              strings.Replace(registeredURI, "+", url.QueryEscape("+"), 1),
	} {
		legs := answer(t, a)
		c := callerOver(dialWireFrom(t, a, "127.0.0.2"), a)
		c.uri, c.target = "sip:acme@pbx.test", uri
		ok := c.connected()
		if !strings.Contains(ok.get("Contact"), strings.TrimPrefix(uri, "sip:")) {
			t.Errorf("%s: %s", name, ok.get("Contact"))
		}
		c.ask("BYE", "")
		c.response(200)
		ends(t, legOf(t, legs))
	}
	for name, uri := range map[string]string{
		"the number":       "sip:" + bob.String() + "@" + a.Addr().String(),
		"another Contact":  strings.Replace(registeredURI, "-", "-x", 1),
		"somebody's guess": "sip:" + bob.String() + "-" + strings.Repeat("a", 32) + "@" + a.Addr().String(),
	} {
		c := newCaller(t, a)
		c.target = uri
		c.ask("INVITE", offerSDP("RTP/SAVP"))
		if r := c.response(403); !isBare(r) {
			t.Errorf("%s: %v", name, r.header)
		}
	}
}

// TestAsksForTheFlow checks that each REGISTER requests a flow with the same instance ID, even from another process. After a 439 the
// request is repeated without the flow.
func TestAsksForTheFlow(t *testing.T) {
	t.Parallel()
	a, other := newAgent(t, nil), newAgent(t, nil)
	address, accept := listenWire(t, "127.0.0.1")
	var instances []string
	for _, ua := range []*agent{a, other} {
		done := registering(t, ua, bindingWith(t, address))
		w := accept()
		req := w.request("REGISTER")
		contact := req.get("Contact")
		_, instance, _ := strings.Cut(contact, `;+sip.instance="<urn:uuid:`)
		instance, _, _ = strings.Cut(instance, `>"`)
		instances = append(instances, instance)
		if !strings.Contains(contact, ";reg-id=1;") || len(instance) != 36 || req.get("Supported") != "path, outbound" {
			t.Errorf("%s, Supported: %s", contact, req.get("Supported"))
		}
		w.reply(req, 439, "r", "")
		again := w.request("REGISTER")
		if strings.Contains(again.get("Contact"), "reg-id") || again.get("Supported") != "" || contactIn(again) != contactIn(req) {
			t.Errorf("%v", again.header)
		}
		w.keeps(again, 60)
		if r := done(); r.err != nil {
			t.Fatal(r.err)
		}
	}
	if instances[0] != instances[1] {
		t.Errorf("%v", instances)
	}
}

// TestDeadFlow checks that a registration is lost if its registrar supports flows but does not answer keep-alives.
func TestDeadFlow(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		headers []string
		pongs   bool
		lost    bool
	}{
		"a flow without answers": {[]string{"Require: outbound", "Flow-Timer: 1"}, false, true},
		"a flow with answers":    {[]string{"Require: path, outbound"}, true, false},
		"no flow":                {nil, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newAgent(t, nil)
			a.KeepAlive(time.Millisecond, 3*time.Second)
			address, accept := listenWire(t, "127.0.0.1")
			b := bindingWith(t, address)
			lost := make(chan struct{})
			b.Lost = func() { close(lost) }
			done := registering(t, a, b)
			w := accept()
			req := w.request("REGISTER")
			w.reply(req, 200, "r", "", append(tt.headers, "Contact: "+contactIn(req)+";expires=60")...)
			if r := done(); r.err != nil {
				t.Fatal(r.err)
			}
			if tt.lost {
				<-lost
				return
			}
			for pings := w.pings.Load(); pings < 5; pings = w.pings.Load() { // five keep-alives take longer than the wait for an answer
				if tt.pongs {
					w.raw("\r\n")
				}
				eventually(t, "a keep-alive comes", func() bool { return w.pings.Load() > pings })
			}
			select {
			case <-lost:
				t.Error("it counts as lost")
			default:
			}
		})
	}
}
