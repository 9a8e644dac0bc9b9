package sipua_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/sip/header"
)

// caseSDP is the SDP of the unusual INVITEs.
const caseSDP = "v=0\r\no=- 7 7 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\nm=audio 40000 RTP/SAVP 0 101\r\n" +
	"a=rtpmap:0 PCMU/8000\r\na=rtpmap:101 telephone-event/8000\r\na=ptime:20\r\n" +
	"a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNk\r\na=sendrecv\r\n"

// parts joins the parts of a multipart body whose boundary is b1.
func parts(parts ...string) string {
	return "--b1\r\n" + strings.Join(parts, "\r\n--b1\r\n") + "\r\n--b1--\r\n"
}

const (
	sdpPart  = "Content-Type: application/sdp\r\nContent-Disposition: session;handling=required\r\n\r\n" + caseSDP
	isupPart = "Content-Type: application/isup;version=itu-t92+\r\nContent-Disposition: signal;handling=optional\r\n\r\n\x01\x00I"
)

// oddInvite describes an unusual but valid INVITE, as PBXs send it.
type oddInvite struct {
	uri, from, callID string
	extra             []string
	kind, body        string // content type and body; if empty, an SDP offer; the body "none" means no body
	status            int    // expected; 0 means 200
	check             func(t *testing.T, in call.CallerInfo, ok message)
}

func (o oddInvite) text(w *wire, us string) string {
	or := func(text, otherwise string) string {
		if text == "" {
			return otherwise
		}
		return text
	}
	body := or(o.body, caseSDP)
	if o.body == "none" {
		body = ""
	}
	lines := []string{
		"INVITE " + or(o.uri, "sip:"+bob.String()+"@"+us+";transport=tls") + " SIP/2.0",
		"Via: SIP/2.0/TLS " + w.conn.LocalAddr().String() + ";branch=z9hG4bKodd;rport", "Max-Forwards: 70",
		"From: " + or(o.from, "<sip:"+alice.String()+"@127.0.0.1>") + ";tag=a1", "To: <sip:" + bob.String() + "@127.0.0.1>",
		"Call-ID: " + or(o.callID, w.conn.LocalAddr().String()), "CSeq: 1 INVITE",
	}
	if lines = append(lines, o.extra...); !strings.Contains(strings.Join(o.extra, "\n"), "Contact:") {
		lines = append(lines, "Contact: <sip:x@"+w.conn.LocalAddr().String()+";transport=tls>")
	}
	lines = append(lines, "Content-Type: "+or(o.kind, "application/sdp"), "Content-Length: "+strconv.Itoa(len(body)), "", body)
	return strings.Join(lines, "\r\n")
}

// contactIs returns a function that checks that our Contact begins with start. A sips Contact must have no transport parameter.
func contactIs(start string) func(*testing.T, call.CallerInfo, message) {
	return func(t *testing.T, _ call.CallerInfo, ok message) {
		t.Helper()
		contact := ok.get("Contact")
		if !strings.HasPrefix(contact, "<"+start) || strings.HasPrefix(start, "sips") && strings.Contains(contact, "transport") {
			t.Errorf("the Contact is %s", contact)
		}
	}
}

func oddInvites() map[string]oddInvite {
	long := strings.Repeat("a", 1000) + "@sbc.test"
	isup := func(t *testing.T, in call.CallerInfo, _ message) {
		t.Helper()
		if len(in.Parts) != 1 || !strings.HasPrefix(in.Parts[0].Type, "application/isup") || string(in.Parts[0].Data) != "\x01\x00I" {
			t.Errorf("the other parts are %+v", in.Parts)
		}
	}
	sips := []string{"Contact: <sips:x@127.0.0.1:6000>"}
	return map[string]oddInvite{
		"a name in Latin-1": {from: "\"J\xfcrgen M\xfcller\" <sip:" + alice.String() + "@127.0.0.1>",
			check: func(t *testing.T, in call.CallerInfo, _ message) {
				t.Helper()
				if in.From != alice.String() {
					t.Errorf("the caller is %q", in.From)
				}
			}},
		"a user in Latin-1": {from: "<sip:J\xfcrgen@127.0.0.1>", check: func(t *testing.T, in call.CallerInfo, _ message) {
			t.Helper()
			if in.From != "Jürgen" {
				t.Errorf("the caller is %q", in.From)
			}
		}},
		"a header in Latin-1": {extra: []string{"X-Info: caf\xe9", "X-Odd: \xff\x80"}, check: func(t *testing.T, in call.CallerInfo, _ message) {
			t.Helper()
			if in.Headers["X-Info"] != "café" || in.Headers["X-Odd"] != "ÿ\ufffd" || in.Variables["city"] != "café" {
				t.Errorf("headers %q, variables %q", in.Headers, in.Variables)
			}
		}},
		"a name of a header in Latin-1": {extra: []string{"X-Caf\xe9: x"}},
		"other headers in Latin-1": {extra: []string{"Subject: \xe9", "P-Asserted-Identity: \"\xe9\" <sip:a@b>", "User-Agent: \xe9", "Organization: \xe9",
			"Warning: 399 x \"\xe9\"", "Call-Info: \xe9", "Supported: \xe9", "Allow: \xe9"}},
		"a Call-ID in Latin-1":   {callID: "caf\xe9@x"},
		"a Call-ID of 1009":      {callID: long},
		"a Call-ID of over 1 KB": {callID: long + strings.Repeat("a", 16), status: 400},
		"a sips request":         {uri: "sips:" + bob.String() + "@127.0.0.1:5061", extra: sips, check: contactIs("sips:" + bob.String() + "@127.0.0.1:")},
		"a sips Contact":         {extra: sips, check: contactIs("sips:")},
		"a Contact of the web":   {extra: []string{"Contact: <http://192.0.2.1/>"}, status: 400},
		"a Contact of mail":      {extra: []string{"Contact: <mailto:a@b.test>"}, status: 400},
		"a Contact of telephony": {extra: []string{"Contact: <tel:+15550199999>"}, status: 400},
		"a Contact in capitals":  {extra: []string{"Contact: <SIP:x@127.0.0.1:6000;transport=tls>"}},
		"a sips proxy":           {extra: []string{"Record-Route: <sips:p.test;lr>"}, check: contactIs("sips:")},
		"a sip proxy before a sips Contact": {extra: append([]string{"Record-Route: <sip:p.test;lr>"}, sips...),
			check: contactIs("sip:")},
		"parameters of Record-Route": {
			extra: []string{"Record-Route: <sip:p2.test;lr;ftag=x>;rr=\"a,b\";c, \"P, 1\" <sip:p1.test;lr?a=b>;d=<e>"},
			check: func(t *testing.T, _ call.CallerInfo, ok message) {
				t.Helper()
				if got := strings.Join(ok.header["Record-Route"], ", "); got != "<sip:p2.test;lr;ftag=x>;rr=\"a,b\";c, \"P, 1\" <sip:p1.test;lr?a=b>;d=<e>" {
					t.Errorf("repeated as %s", got)
				}
			}},
		"a broken Record-Route":     {extra: []string{"Record-Route: <sip:p2.test;lr"}, status: 400},
		"ISUP behind the offer":     {kind: "multipart/mixed;boundary=b1", body: parts(sdpPart, isupPart), check: isup},
		"ISUP before the offer":     {kind: "multipart/mixed; boundary=\"b1\"", body: "preamble\r\n" + parts(isupPart, sdpPart) + "epilogue", check: isup},
		"parts within parts":        {kind: "multipart/mixed;boundary=b0", body: "--b0\r\nContent-Type: multipart/related;boundary=b1\r\n\r\n" + parts(sdpPart, isupPart) + "\r\n--b0--\r\n", check: isup},
		"an offer in base64":        {kind: "multipart/mixed;boundary=b1", body: parts("Content-Type: application/sdp\r\nContent-Transfer-Encoding: base64\r\n\r\ndj0wDQpvPS0gMSAxIElOIElQNCAxMjcuMC4wLjENCnM9LQ0KYz1JTiBJUDQgMTI3LjAuMC4xDQp0\r\nPTAgMA0KbT1hdWRpbyA0MDAwMCBSVFAvQVZQIDANCg=="), status: 488},
		"a part without a type":     {kind: "multipart/mixed;boundary=b1", body: parts(sdpPart, "\r\nhello")},
		"a part that is required":   {kind: "multipart/mixed;boundary=b1", body: parts(sdpPart, strings.Replace(isupPart, "optional", "required", 1)), status: 415},
		"only ISUP, optional":       {kind: "multipart/mixed;boundary=b1", body: parts(isupPart)},
		"a body that is optional":   {kind: "application/isup", extra: []string{"Content-Disposition: signal;handling=optional"}, body: "x"},
		"a body of another type":    {kind: "application/isup", body: "x", status: 415},
		"an encoded body":           {extra: []string{"Content-Encoding: gzip"}, status: 415},
		"an encoded body, compact":  {extra: []string{"e: gzip"}, status: 415},
		"no encoding":               {extra: []string{"Content-Encoding: Identity"}},
		"a multipart without end":   {kind: "multipart/mixed;boundary=b1", body: "--b1\r\n" + sdpPart, status: 400},
		"a multipart of nothing":    {kind: "multipart/mixed;boundary=b1", body: "hello", status: 400},
		"a multipart, no boundary":  {kind: "multipart/mixed", body: parts(sdpPart), status: 400},
		"an attribute that is odd":  {body: caseSDP + "a=rtcp:\r\n"},
		"no streams":                {body: "v=0\r\no=- 7 7 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\n", status: 488},
		"a type with odd parameter": {kind: "application/sdp; charset=\"utf", body: caseSDP},
	}
}

func TestOddInvites(t *testing.T) {
	t.Parallel()
	for name, o := range oddInvites() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newAgent(t, nil)
			a.routes.mu.Lock()
			a.routes.route.Headers = []header.Rule{{Custom: &header.Custom{Key: "X-Info", Value: "city"}}}
			a.routes.mu.Unlock()
			w := dialWire(t, a)
			ctx := within(t)
			infos := make(chan call.CallerInfo, 1)
			if o.status == 0 {
				go func() {
					if in, err := a.Accept(ctx); err == nil {
						infos <- in.Caller()
						_, _ = in.Answer(ctx)
					}
				}()
			}
			w.raw(o.text(w, a.Addr().String()))
			if o.status != 0 {
				r := w.response(o.status)
				if o.status == 415 && (!strings.Contains(r.get("Accept"), "application/sdp") || r.get("Accept-Encoding") != "identity") {
					t.Errorf("%v", r.header)
				}
				return
			}
			w.response(180)
			ok := w.response(200)
			if !strings.Contains(ok.body, "m=audio ") {
				t.Errorf("answered with %q", ok.body)
			}
			if o.check != nil {
				o.check(t, <-infos, ok)
			}
		})
	}
}

// TestDescriptionBeforeThe200 checks that the SDP of a provisional response is the answer if the 200 of the same branch contains none. A
// 200 of another branch without SDP ends the call.
func TestDescriptionBeforeThe200(t *testing.T) {
	t.Parallel()
	for name, answered := range map[string]bool{"x": true, "other": false} {
		a := newAgent(t, nil)
		address, accept := listenWire(t, "127.0.0.1")
		a.callsTo(t, address)
		p := dial(t, a, call.DialRequest{Org: org, From: alice, To: bob})
		w := accept()
		invite := w.request("INVITE")
		w.reply(invite, 183, "x", answerSDP())
		<-p.rang // otherwise sipgo may deliver the next response first
		w.reply(invite, 200, name, "")
		w.request("ACK")
		if !answered {
			w.reply(w.request("BYE"), 200, "", "")
			continue
		}
		l := p.leg()
		n := a.media.last(t).negotiated()
		if len(n) != 1 || n[0].RemoteRTP.Port() != 30000 {
			t.Errorf("%+v", n)
		}
		go func() { _ = l.Hangup(t.Context()) }()
		w.reply(w.request("BYE"), 200, "", "")
		ends(t, l)
	}
}
