package sipua_test

import (
	"strings"
	"testing"

	"github.com/callwright/callwright/sip/siptest"
)

func TestRegistrationLine(t *testing.T) {
	t.Parallel()
	siptest.RunRegistrationLine(t, func(t *testing.T) siptest.Registrar {
		a := newAgent(t, nil)
		address, accept := listenWire(t, "127.0.0.1")
		var w *wire
		return siptest.Registrar{
			Line: a, Binding: bindingWith(t, address),
			Answer: func(status int) {
				if w == nil {
					w = accept()
				}
				req := w.request("REGISTER")
				if status == 200 && req.get("Expires") != "0" {
					w.keeps(req, 60)
					return
				}
				w.reply(req, status, "r", "")
			},
			Drop: func() {
				w.conn.Close()
				w = nil
			},
		}
	})
}

func TestTestCallLine(t *testing.T) {
	t.Parallel()
	siptest.RunTestCallLine(t, func(t *testing.T) siptest.Callee {
		a := newAgent(t, nil)
		address, accept := listenWire(t, "127.0.0.1")
		a.callsTo(t, address)
		var w *wire
		var invite message
		next := func() {
			if w == nil {
				w = accept()
			}
			invite = w.request("INVITE")
		}
		return siptest.Callee{
			Line: a.TestLine(), Placement: placement,
			Answer: func(status int) {
				next()
				body := ""
				if status == 200 {
					body = answerSDP()
				}
				w.reply(invite, status, "x", body)
				w.request("ACK")
			},
			Ring: func() {
				next()
				w.reply(invite, 180, "x", "")
			},
			Canceled: func() {
				w.reply(w.request("CANCEL"), 200, "x", "")
				w.reply(invite, 487, "x", "")
				w.request("ACK")
			},
			HangUp: func() {
				_, target, _ := strings.Cut(contactIn(invite), "<")
				w.send("", "BYE "+strings.TrimSuffix(target, ">")+" SIP/2.0",
					"Via: SIP/2.0/TLS "+w.conn.LocalAddr().String()+";branch=z9hG4bKbye", "Max-Forwards: 70",
					"From: "+invite.get("To")+";tag=x", "To: "+invite.get("From"), "Call-ID: "+invite.get("Call-Id"), "CSeq: 1 BYE")
				w.response(200)
			},
			Ended: func() { w.reply(w.request("BYE"), 200, "", "") },
		}
	})
}
