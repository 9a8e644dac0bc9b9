package sipua_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/sipua"
	trunk "github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/registration"
	"github.com/callwright/callwright/sip/uri"
)

// inBob is the inbound trunk of bob, which registers with a server.
var inBob = trunk.Trunk{
	ID: "trunk", Number: bob, Direction: trunk.Inbound,
	Options: trunk.Options{AuthMode: trunk.AuthRegister, Register: trunk.Credentials{Username: secret.Username, Password: secret.Password}},
}

// bindingWith returns a binding with the registrar at an address.
func bindingWith(t testing.TB, address string) registration.Binding {
	t.Helper()
	server, err := uri.Parse("sip:" + address + ";transport=tls")
	if err != nil {
		t.Fatal(err)
	}
	return registration.Binding{
		TrunkID: "trunk", User: inBob.ContactUser(), Server: server, Credentials: secret, Expires: time.Hour, Lost: func() {},
	}
}

type registered struct {
	granted time.Duration
	err     error
}

// registering starts a Register call in a new goroutine, and returns a function that waits for its result.
func registering(t testing.TB, a *agent, b registration.Binding) func() registered {
	t.Helper()
	result := make(chan registered, 1)
	ctx := within(t)
	go func() {
		granted, err := a.Register(ctx, b)
		result <- registered{granted, err}
	}()
	return func() registered {
		t.Helper()
		select {
		case r := <-result:
			return r
		case <-time.After(patience):
			t.Fatal("Register does not return")
			return registered{}
		}
	}
}

// contactIn returns the Contact URI of a REGISTER in angle brackets, without header parameters.
func contactIn(m message) string {
	contact, _, _ := strings.Cut(m.get("Contact"), ">")
	return contact + ">"
}

// keeps answers a REGISTER with 200 and an expiry in seconds.
func (w *wire) keeps(req message, seconds int) {
	w.t.Helper()
	w.reply(req, 200, "registrar", "", fmt.Sprintf("Contact: %s;expires=%d", contactIn(req), seconds))
}

// bind registers without a challenge, and returns the connection of the registration.
func bind(t testing.TB, a *agent, b registration.Binding, accept func() *wire) *wire {
	t.Helper()
	done := registering(t, a, b)
	w := accept()
	w.keeps(w.request("REGISTER"), 60)
	if r := done(); r.err != nil || r.granted != time.Minute {
		t.Fatalf("%+v", r)
	}
	return w
}

// rightly reports whether the digest response in a REGISTER is correct for a challenge, compared with an independent computation.
func rightly(req message, header, algorithm, nonce string) bool {
	got := req.get(header)
	p := proof{
		algorithm: algorithm, username: secret.Username, password: secret.Password.Reveal(), realm: "pbx", nonce: nonce,
		method: "REGISTER", uri: param(got, "uri"), qop: "auth", nc: "00000001", cnonce: param(got, "cnonce"),
	}
	want := p.String()
	return param(got, "response") == param(want, "response") && param(got, "username") == secret.Username
}

func TestRegister(t *testing.T) {
	t.Parallel()
	a := newAgent(t, nil)
	address, accept := listenWire(t, "127.0.0.1")
	b := bindingWith(t, address)
	done := registering(t, a, b)
	w := accept()
	first := w.request("REGISTER")
	if first.start != "REGISTER sip:"+address+";transport=tls SIP/2.0" || first.get("Authorization") != "" ||
		!strings.Contains(first.get("From"), "<sip:pbx@127.0.0.1>") || first.get("To") != "<sip:pbx@127.0.0.1>" ||
		contactIn(first) != "<sip:"+inBob.ContactUser()+"@"+a.Addr().String()+";transport=tls>" || first.get("Expires") != "3600" ||
		!strings.HasSuffix(first.get("Contact"), ";expires=3600") {
		t.Errorf("%s %v", first.start, first.header)
	}
	if !strings.HasSuffix(first.get("Via"), ";rport") {
		t.Errorf("Via: %s", first.get("Via"))
	}
	w.reply(first, 401, "r", "",
		`WWW-Authenticate: Digest realm="pbx", nonce="one", algorithm=MD5, qop="auth"`,
		`WWW-Authenticate: Digest realm="pbx", nonce="two", algorithm=SHA-256, qop="auth"`)
	second := w.request("REGISTER")
	if !rightly(second, "Authorization", "SHA-256", "two") || second.cseq() != first.cseq()+1 ||
		second.get("Call-Id") != first.get("Call-Id") || second.get("From") != first.get("From") {
		t.Errorf("%v", second.header)
	}
	w.reply(second, 200, "r", "", "Contact: <sip:other@192.0.2.1>;expires=999, "+contactIn(second)+";expires=60", "Expires: 777")
	if r := done(); r.err != nil || r.granted != time.Minute {
		t.Errorf("%+v", r)
	}

	done = registering(t, a, b)
	refresh := w.request("REGISTER")
	if refresh.get("Call-Id") != first.get("Call-Id") || refresh.cseq() <= second.cseq() {
		t.Errorf("%v", refresh.header)
	}
	w.reply(refresh, 200, "r", "", "Contact: "+contactIn(refresh))
	if r := done(); r.err != nil || r.granted != time.Hour {
		t.Errorf("without a word what was asked for: %+v", r)
	}

	gone := make(chan struct{})
	go func() { defer close(gone); a.Unregister(context.Background(), b.TrunkID) }()
	bye := w.request("REGISTER")
	if bye.get("Expires") != "0" || !strings.HasSuffix(bye.get("Contact"), ";expires=0") || bye.get("Call-Id") != first.get("Call-Id") {
		t.Errorf("%v", bye.header)
	}
	w.reply(bye, 200, "r", "")
	<-gone
	a.Unregister(context.Background(), b.TrunkID) // has no effect on an ended binding
	done = registering(t, a, b)
	anew := w.request("REGISTER")
	if anew.get("Call-Id") == first.get("Call-Id") || anew.cseq() != 1 {
		t.Errorf("%v", anew.header)
	}
	w.keeps(anew, 60)
	done()
}

func TestGranted(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		headers []string
		want    time.Duration // 0 if the registration is refused
	}{
		"the Contact's":      {[]string{"Contact: %s;expires=30", "Expires: 40"}, 30 * time.Second},
		"the header's":       {[]string{"Contact: %s", "Expires: 40"}, 40 * time.Second},
		"not another's":      {[]string{"Contact: <sip:other@192.0.2.1>;expires=20, %s;expires=30", "Expires: 40"}, 30 * time.Second},
		"rewritten":          {[]string{"Contact: <sip:" + inBob.ContactUser() + "@203.0.113.9:53951;transport=tls>;expires=60"}, time.Minute},
		"rewritten wholly":   {[]string{"Contact: <sip:acme@203.0.113.9:53951;transport=tls>;expires=60", "Expires: 777"}, time.Minute},
		"beside another's":   {[]string{"Contact: <sip:x@192.0.2.1>;expires=20, <sip:" + inBob.ContactUser() + "@203.0.113.9>;expires=60"}, time.Minute},
		"our instance":       {[]string{"Contact: <sip:x@192.0.2.1>;expires=20", "Contact: <sip:y@192.0.2.2>;Expires=60;reg-id=1;%i"}, time.Minute},
		"one of several":     {[]string{"Contact: <sip:x@192.0.2.1>;expires=300, <sip:y@192.0.2.2>;expires=60", "Expires: 777"}, time.Minute},
		"of all":             {[]string{"Contact: <sip:x@192.0.2.1>", "Expires: 50"}, 50 * time.Second},
		"a parameter before": {[]string{"Contact: %s;q=0.5;expires=20"}, 20 * time.Second},
		"none":               {[]string{"Contact: %s;expires=0"}, 0},
		"no Contact":         {[]string{"Expires: 40"}, 0},
		"nothing":            {nil, 0},
		"another instance's": {[]string{`Contact: <sip:x@192.0.2.1>;expires=300;+sip.instance="<urn:uuid:1>"`, "Expires: 40"}, 0},
		"beside an instance": {[]string{`Contact: <sip:x@192.0.2.1>;expires=20;+sip.instance="<urn:uuid:1>", <sip:y@192.0.2.1>;expires=60`}, time.Minute},
		"no number":          {[]string{"Contact: %s;expires=soon"}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newAgent(t, nil)
			address, accept := listenWire(t, "127.0.0.1")
			done := registering(t, a, bindingWith(t, address))
			w := accept()
			req := w.request("REGISTER")
			for i := range tt.headers {
				_, instance, _ := strings.Cut(req.get("Contact"), ";reg-id=1;")
				instance, _, _ = strings.Cut(instance, ";")
				tt.headers[i] = strings.NewReplacer("%s", contactIn(req), "%i", instance).Replace(tt.headers[i])
			}
			w.reply(req, 200, "r", "", tt.headers...)
			switch r := done(); {
			case tt.want != 0 && (r.err != nil || r.granted != tt.want):
				t.Errorf("%+v", r)
			case tt.want == 0 && r.err == nil:
				t.Errorf("%+v", r)
			}
		})
	}
}

func TestRegistrationRefused(t *testing.T) {
	t.Parallel()
	const ask = `WWW-Authenticate: Digest realm="pbx", nonce="n", qop="auth"`
	for name, tt := range map[string]struct {
		status  int
		headers []string
		want    registration.Refusal
	}{
		"forbidden":         {403, nil, registration.Refusal{Code: 403}},
		"moved":             {302, []string{"Contact: <sip:elsewhere.test>"}, registration.Refusal{Code: 302}},
		"too brief":         {423, []string{"Min-Expires: 7200"}, registration.Refusal{Code: 423, MinExpires: 2 * time.Hour}},
		"out of order":      {503, []string{"Retry-After: 120 (soon);duration=5"}, registration.Refusal{Code: 503, RetryAfter: 2 * time.Minute}},
		"unknown algorithm": {401, []string{`WWW-Authenticate: Digest realm="pbx", nonce="n", algorithm=X`}, registration.Refusal{Code: 401, Auth: true}},
		"no challenge":      {401, nil, registration.Refusal{Code: 401, Auth: true}},
		"wrong password":    {401, []string{ask}, registration.Refusal{Code: 401, Auth: true}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newAgent(t, nil)
			address, accept := listenWire(t, "127.0.0.1")
			done := registering(t, a, bindingWith(t, address))
			w := accept()
			w.reply(w.request("REGISTER"), tt.status, "r", "", tt.headers...)
			if name == "wrong password" {
				w.reply(w.request("REGISTER"), tt.status, "r", "", tt.headers...)
			}
			r := done()
			got, ok := errors.AsType[*registration.Refusal](r.err)
			if !ok {
				t.Fatalf("%v", r.err)
			}
			tt.want.Reason = fmt.Sprintf("%d Test", tt.status)
			if *got != tt.want {
				t.Errorf("%+v, want %+v", *got, tt.want)
			}
		})
	}
}

// TestRegisterThroughAProxy checks that a REGISTER contains credentials for the proxy and for the server, repeats them for a stale nonce,
// and stops after too many challenges.
func TestRegisterThroughAProxy(t *testing.T) {
	t.Parallel()
	a := newAgent(t, nil)
	address, accept := listenWire(t, "127.0.0.1")
	done := registering(t, a, bindingWith(t, address))
	w := accept()
	w.reply(w.request("REGISTER"), 407, "r", "", `Proxy-Authenticate: Digest realm="pbx", nonce="p", algorithm=MD5, qop="auth"`)
	req := w.request("REGISTER")
	if !rightly(req, "Proxy-Authorization", "MD5", "p") {
		t.Errorf("%v", req.header)
	}
	w.reply(req, 401, "r", "", `WWW-Authenticate: Digest realm="pbx", nonce="s", algorithm=MD5, qop="auth"`)
	w.reply(w.request("REGISTER"), 401, "r", "", `WWW-Authenticate: Digest realm="pbx", nonce="t", algorithm=MD5, qop="auth", stale=true`)
	req = w.request("REGISTER")
	if !rightly(req, "Proxy-Authorization", "MD5", "p") || !rightly(req, "Authorization", "MD5", "t") {
		t.Errorf("%v", req.header)
	}
	for range 3 {
		w.reply(req, 401, "r", "", `WWW-Authenticate: Digest realm="pbx", nonce="u", algorithm=MD5, qop="auth", stale=true`)
		if req.cseq() < 6 {
			req = w.request("REGISTER")
		}
	}
	if refusal, ok := errors.AsType[*registration.Refusal](done().err); !ok || !refusal.Auth {
		t.Error("it asks for ever")
	}
}

func TestRegistrarThatDoesNotAnswer(t *testing.T) {
	t.Parallel()
	for name, do := range map[string]func(*wire){
		"silent":        func(*wire) {},
		"hangs up":      func(w *wire) { _ = w.conn.Close() },
		"trying only":   func(w *wire) { w.reply(w.request("REGISTER"), 100, "", "") },
		"garbage":       func(w *wire) { w.raw("HTTP/1.1 200 OK\r\n\r\n") },
		"another reply": func(w *wire) { w.send("", "SIP/2.0 200 OK", "Via: SIP/2.0/TLS x;branch=z9hG4bKx", "CSeq: 1 REGISTER") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newAgent(t, nil)
			address, accept := listenWire(t, "127.0.0.1")
			done := registering(t, a, bindingWith(t, address))
			do(accept())
			r := done()
			if _, refused := errors.AsType[*registration.Refusal](r.err); r.err == nil || refused {
				t.Errorf("%+v", r)
			}
		})
	}
}

// TestRegisterIsGivenUp checks that Unregister deletes the binding at the server if Register was canceled before its response. The server
// may have stored the binding by then.
func TestRegisterIsGivenUp(t *testing.T) {
	t.Parallel()
	a := newAgent(t, nil)
	address, accept := listenWire(t, "127.0.0.1")
	b := bindingWith(t, address)
	ctx, stop := context.WithCancel(within(t))
	gone := make(chan error, 1)
	go func() {
		_, err := a.Register(ctx, b)
		a.Unregister(context.Background(), b.TrunkID)
		gone <- err
	}()
	w := accept()
	first := w.request("REGISTER")
	stop()
	second := w.request("REGISTER")
	if second.get("Expires") != "0" || second.get("Call-Id") != first.get("Call-Id") || second.cseq() <= first.cseq() {
		t.Errorf("%v", second.header)
	}
	w.reply(second, 200, "r", "")
	if err := <-gone; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestRegistrarOutOfReach(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		change func(*sipua.Config)
		host   string
		want   string
	}{
		"a private address":     {func(c *sipua.Config) { c.AllowPrivate = false }, "127.0.0.1", "public"},
		"another's certificate": {nil, "else.test", "certificate"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newAgent(t, tt.change)
			address, _ := listenWire(t, tt.host)
			_, err := a.Register(within(t), bindingWith(t, address))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v", err)
			}
			a.Unregister(within(t), "trunk")
		})
	}
}

func TestLostRegistration(t *testing.T) {
	t.Parallel()
	a := newAgent(t, nil)
	address, accept := listenWire(t, "127.0.0.1")
	b := bindingWith(t, address)
	var lost atomic.Int32
	b.Lost = func() { lost.Add(1) }
	w := bind(t, a, b, accept)
	_ = w.conn.Close()
	eventually(t, "the loss is told", func() bool { return lost.Load() == 1 })
	w = bind(t, a, b, accept) // uses a new connection
	done := registering(t, a, b)
	w.keeps(w.request("REGISTER"), 60)
	if r := done(); r.err != nil {
		t.Error(r.err)
	}
	if n := lost.Load(); n != 1 {
		t.Errorf("told %d times", n)
	}
}

func TestRegistrationIsKeptAlive(t *testing.T) {
	t.Parallel()
	a := newAgent(t, nil)
	a.KeepAlive(time.Millisecond, patience)
	address, accept := listenWire(t, "127.0.0.1")
	b := bindingWith(t, address)
	w := bind(t, a, b, accept)
	eventually(t, "keep-alives come", func() bool { return w.pings.Load() >= 2 })
	done := registering(t, a, b)
	w.keeps(w.request("REGISTER"), 60)
	if r := done(); r.err != nil {
		t.Error(r.err)
	}
}

// TestCallsOverARegistration checks that only calls over the connection of a trunk's registration are the trunk's, not other calls from the
// same address.
func TestCallsOverARegistration(t *testing.T) {
	t.Parallel()
	a := newAgent(t, nil)
	a.routes.judge = func(_ callwright.PhoneNumber, from trunk.Peer) error {
		if !slices.Contains(from.Registered, "trunk") {
			return callwright.ErrForbidden
		}
		return nil
	}
	address, accept := listenWire(t, "127.0.0.1")
	b := bindingWith(t, address)
	c := callerOver(bind(t, a, b, accept), a)
	stranger := newCaller(t, a)
	stranger.ask("INVITE", offerSDP("RTP/SAVP"))
	if r := stranger.response(403); !isBare(r) {
		t.Errorf("%v", r.header)
	}
	legs := answer(t, a)
	c.connected()
	l := legOf(t, legs)

	gone := make(chan struct{})
	go func() { defer close(gone); a.Unregister(context.Background(), b.TrunkID) }()
	c.reply(c.request("REGISTER"), 200, "r", "")
	<-gone
	again := callerOver(c.wire, a)
	again.callID += "-again"
	again.ask("INVITE", offerSDP("RTP/SAVP"))
	again.response(403)

	if n := a.Held(); n != 1 {
		t.Errorf("%d hold the connection of a call", n)
	}
	c.ask("BYE", "")
	c.response(200)
	ends(t, l)
	eventually(t, "nobody holds the connection", func() bool { return a.Held() == 0 })
}

// TestContactOverARegistration checks that our Contact in calls is the address in the server's rport and received. If these are missing or
// invalid, it is the listening address.
func TestContactOverARegistration(t *testing.T) {
	t.Parallel()
	for seen, want := range map[string]string{
		";rport=40000;received=192.0.2.7":   "192.0.2.7:40000",
		";received=2001:db8::7;rport=40000": "[2001:db8::7]:40000",
		";rport;received=192.0.2.7":         "",
		";rport=0;received=192.0.2.7":       "",
		";rport=40000;received=pbx.test":    "",
		";rport=40000":                      "",
	} {
		t.Run(seen, func(t *testing.T) {
			t.Parallel()
			a := newAgent(t, nil)
			address, accept := listenWire(t, "127.0.0.1")
			done := registering(t, a, bindingWith(t, address))
			w := accept()
			req := w.request("REGISTER")
			req.header["Via"][0] = strings.TrimSuffix(req.get("Via"), ";rport") + seen
			w.keeps(req, 60)
			if r := done(); r.err != nil {
				t.Fatal(r.err)
			}
			c := callerOver(w, a)
			legs := answer(t, a)
			ok := c.connected()
			if want == "" {
				want = a.Addr().String()
			}
			if got := ok.get("Contact"); got != "<sip:"+bob.String()+"@"+want+";transport=tls>" {
				t.Errorf("%s", got)
			}
			c.ask("BYE", "")
			c.response(200)
			ends(t, legOf(t, legs))
		})
	}
}

func TestRegisterWhenClosed(t *testing.T) {
	t.Parallel()
	a := newAgent(t, nil)
	address, _ := listenWire(t, "127.0.0.1")
	if err := a.Close(within(t)); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Register(within(t), bindingWith(t, address)); err == nil {
		t.Error("it registers")
	}
	a.Unregister(within(t), "trunk")
}
