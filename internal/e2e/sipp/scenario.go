package sipp

import (
	"fmt"
	"strings"
	"time"
)

// Scenario is the server's behavior in the one call that it accepts.
type Scenario string

// These constants are the scenarios. Each succeeds only if the user agent under test follows RFC 3261.
const (
	Busy        Scenario = "busy"        // 486; expects an ACK
	Decline     Scenario = "decline"     // 603
	Unavailable Scenario = "unavailable" // 503 with Retry-After
	Slow        Scenario = "slow"        // rings after 5 s and answers 2 s later; expects a BYE
	Forked      Scenario = "forked"      // two phones answer; the second expects an ACK and a BYE
	LostACK     Scenario = "lost ACK"    // repeats the answer as if the ACK were lost; expects another ACK
	Silent      Scenario = "silent"      // receives the INVITE and never answers
	Late        Scenario = "late"        // answers after 6 s without a provisional response; expects an ACK and a BYE
)

// redirect is the prefix of the scenarios that Redirect returns.
const redirect = "redirect to "

// Redirect returns a scenario that redirects the call to a URI with 302 and expects no further request.
func Redirect(uri string) Scenario { return Scenario(redirect + uri) }

// steps returns the steps of a scenario in sipp's XML. front is the public address of the server.
func (s Scenario) steps(front string) []string {
	if to, ok := strings.CutPrefix(string(s), redirect); ok {
		return []string{invite, toInvite("302 Moved Temporarily", "a") + "Contact: <" + to + ">\nContent-Length: 0\n\n]]></send>", ack}
	}
	switch s {
	case Busy:
		return []string{invite, refusal("486 Busy Here"), ack}
	case Decline:
		return []string{invite, refusal("603 Decline"), ack}
	case Unavailable:
		return []string{invite, refusal("503 Service Unavailable"), ack}
	case Slow:
		return []string{
			invite, provisional("100 Trying", ""), pause(5 * time.Second), provisional("180 Ringing", "a"),
			pause(2 * time.Second), answer(front, "a"), ack, bye,
		}
	case Forked:
		return []string{
			invite, provisional("180 Ringing", "a"), provisional("180 Ringing", "b"), answer(front, "a"), ack,
			answer(front, "b"), ack, bye, bye,
		}
	case LostACK:
		return []string{invite, answer(front, "a"), ack, answer(front, "a"), ack, bye}
	case Silent:
		return []string{invite, pause(5 * time.Second)}
	case Late:
		return []string{invite, pause(6 * time.Second), answer(front, "a"), ack, bye}
	default:
		return nil
	}
}

// xml returns a scenario as an XML file for sipp.
func (s Scenario) xml(front string) string {
	return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<scenario name=\"" + string(s) + "\">\n" +
		strings.Join(s.steps(front), "\n") + "\n<Reference variables=\"1,2,dialog,via,from,to\"/>\n</scenario>\n"
}

// invite receives an INVITE with SRTP. It stores the header values that the responses repeat, because other requests may arrive before
// them.
const invite = `<recv request="INVITE"><action>
  <ereg regexp="a=crypto:([0-9]+) AES_CM_128_HMAC_SHA1_80" search_in="body" check_it="true" assign_to="1,2"/>
  <ereg regexp=".*" search_in="hdr" header="CSeq:" assign_to="dialog"/>
  <ereg regexp=".*" search_in="hdr" header="Via:" assign_to="via"/>
  <ereg regexp=".*" search_in="hdr" header="From:" assign_to="from"/>
  <ereg regexp=".*" search_in="hdr" header="To:" assign_to="to"/>
</action></recv>`

// bye receives a BYE and answers it with 200.
const bye = `<recv request="BYE"/>
<send><![CDATA[
SIP/2.0 200 OK
[last_Via:]
[last_From:]
[last_To:]
[last_Call-ID:]
[last_CSeq:]
Content-Length: 0

]]></send>`

// ack receives an ACK.
const ack = `<recv request="ACK"/>`

func pause(d time.Duration) string {
	return fmt.Sprintf("<pause milliseconds=\"%d\"/>", d.Milliseconds())
}

// toInvite returns the beginning of a response to the INVITE. An empty tag adds no tag to the To header.
func toInvite(status, tag string) string {
	if tag != "" {
		tag = ";tag=" + tag
	}
	return "<send><![CDATA[\nSIP/2.0 " + status + "\nVia: [$via]\nFrom: [$from]\nTo: [$to]" + tag +
		"\n[last_Call-ID:]\nCSeq: [$dialog]\n"
}

func refusal(status string) string {
	return toInvite(status, "a") + "Retry-After: 30\nContent-Length: 0\n\n]]></send>"
}

func provisional(status, tag string) string {
	return toInvite(status, tag) + "Content-Length: 0\n\n]]></send>"
}

func answer(front, tag string) string {
	return toInvite("200 OK", tag) + "Contact: <sip:" + tag + "@" + front + `;transport=tls>
Content-Type: application/sdp
Content-Length: [len]

v=0
o=- 1 1 IN IP4 127.0.0.1
s=-
c=IN IP4 127.0.0.1
t=0 0
m=audio 16000 RTP/SAVP 0 101
a=rtpmap:0 PCMU/8000
a=rtpmap:101 telephone-event/8000
a=fmtp:101 0-16
a=crypto:[$2] AES_CM_128_HMAC_SHA1_80 inline:MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNk
a=sendrecv
]]></send>`
}
