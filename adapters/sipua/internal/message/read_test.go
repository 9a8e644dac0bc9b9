package message_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/emiago/sipgo/sip"

	"github.com/callwright/callwright/adapters/sipua/internal/message"
	"github.com/callwright/callwright/sip/dialog"
)

const invite = "INVITE sip:+15550100002@example.test SIP/2.0\r\n" +
	"Via: SIP/2.0/TLS x;branch=z9hG4bK1\r\nFrom: \"A, B\" <sip:+15550100001@a.test>;tag=f\r\nTo: <sip:b@b.test>\r\n" +
	"Call-ID: c\r\nCSeq: 7 INVITE\r\nMax-Forwards: 70\r\nContact: <sip:a@192.0.2.1:5061;transport=tls>\r\n" +
	"Record-Route: <sip:p2.test;lr>, <sip:p1.test>\r\nRequire: 100rel , Timer\r\nx: 1800 ; Refresher=UAC\r\n" +
	"Min-SE: 120;a=b\r\nContent-Type: application/sdp;charset=utf-8\r\nContent-Length: 3\r\n\r\nv=0"

const multipart = "INVITE sip:+15550100002@example.test SIP/2.0\r\n" +
	"Via: SIP/2.0/TLS x;branch=z9hG4bK1\r\nFrom: <sip:a@a.test>;tag=f\r\nTo: <sip:b@b.test>\r\nCall-ID: c\r\nCSeq: 7 INVITE\r\n" +
	"Contact: <sip:a@192.0.2.1>\r\nContent-Type: multipart/mixed;boundary=b1\r\nContent-Length: 148\r\n\r\n" +
	"--b1\r\nContent-Type: application/sdp\r\n\r\nv=0\r\n\r\n--b1\r\nContent-Type: application/isup\r\n" +
	"Content-Disposition: signal;handling=optional\r\n\r\n\x01\x00I\r\n--b1--\r\n"

// understand parses a message as the user agent does. It returns the event for the dialog's state machine, and whether the message is
// refused.
func understand(data []byte) (ev dialog.Event, refused bool) {
	msg, err := message.Parse(data)
	if err != nil {
		return nil, true
	}
	_ = message.Event(msg)
	switch msg := msg.(type) {
	case *sip.Request:
		if message.Validate(msg) != nil {
			return nil, true
		}
		if msg.Method == sip.INVITE && message.ValidateInvite(msg) == nil {
			_, _ = message.CalledNumber(msg)
			_, _ = message.Caller(msg), message.CustomHeaders(msg)
		}
		if _, err := message.ReadBody(msg); err != nil && msg.Method == sip.INVITE {
			panic("a body that was accepted cannot be read")
		}
		return message.ReadRequest(msg), false
	case *sip.Response:
		return message.ReadResponse(dialog.INVITE, 1, msg), false
	default:
		return nil, true
	}
}

func TestReadsAnInvite(t *testing.T) {
	t.Parallel()
	got, refused := understand([]byte(invite))
	want := dialog.Request{
		Method: dialog.INVITE, CSeq: 7, RemoteTag: "f", Contact: "sip:a@192.0.2.1:5061;transport=tls",
		Routes: []dialog.Route{{URI: "sip:p2.test;lr", Loose: true}, {URI: "sip:p1.test"}}, Body: true,
		Require: []string{"100rel", "timer"},
		Session: dialog.Session{Expires: 30 * time.Minute, MinSE: 2 * time.Minute, Refresher: dialog.UAC, Supported: true},
	}
	if refused || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v\nnot %+v", got, want)
	}
}

func TestReadsAReport(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]int{
		"SIP/2.0 200 OK\r\n": 200, "SIP/2.0 486 Busy Here": 486, "SIP/2.0 99 No\r\n": 0, "SIP/2.0 abc": 0, "SIP/2.0": 0,
		"HTTP/1.1 200 OK": 0,
	} {
		text := strings.ReplaceAll(invite, "INVITE", "NOTIFY")
		text = strings.Replace(text, "Require", "Subscription-State: Terminated;reason=x\r\nIgnored", 1)
		head, _, _ := strings.Cut(text, "Content-Type")
		got, _ := understand([]byte(head + "Content-Type: message/sipfrag\r\n\r\n" + body))
		if r, ok := got.(dialog.Request); !ok || r.Progress != want || !r.Final {
			t.Errorf("%q: %+v", body, got)
		}
	}
}

func FuzzUnderstand(f *testing.F) {
	f.Add([]byte(invite))
	f.Add([]byte(strings.Replace(invite, "A, B", "J\xfcrgen", 1)))
	f.Add([]byte(strings.ReplaceAll(invite, "sip:", "sips:")))
	f.Add([]byte(strings.Replace(invite, "lr>, <", "lr>;x=\"a,b\", \"P, 1\" <", 1)))
	f.Add([]byte(multipart))
	f.Add([]byte("SIP/2.0 401 No\r\nVia: SIP/2.0/TLS x;branch=z9hG4bK1\r\nTo: <sip:b@b>;tag=t\r\nCSeq: 1 INVITE\r\n" +
		"WWW-Authenticate: Digest realm=\"r\", nonce=\"n\", algorithm=SHA-512-256, qop=\"auth\"\r\nContent-Length: 0\r\n\r\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		ev, refused := understand(data)
		if refused {
			return
		}
		if r, ok := ev.(dialog.Request); ok && (r.Method == "" || r.Session.Expires < 0 || r.Progress >= 700) {
			t.Errorf("%+v", r)
		}
	})
}
