package trunks_test

import (
	"fmt"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/alert"
	"github.com/callwright/callwright/sip/calllog"
	"github.com/callwright/callwright/sip/failover"
	"github.com/callwright/callwright/sip/health"
	"github.com/callwright/callwright/sip/ladder"
	"github.com/callwright/callwright/sip/siptest"
)

func TestNotEntitled(t *testing.T) {
	t.Parallel()
	open(t).want(http.StatusForbidden, "/trunks", nil, "SIP is not enabled")
}

func TestList(t *testing.T) {
	t.Parallel()
	h := open(t, callwright.EntitlementSIP)
	h.want(http.StatusOK, "/trunks", nil, "Set up the first trunk")
	h.attach(org, one)
	h.attach("other", two)
	h.want(http.StatusOK, "/trunks", nil, `href="/trunks/&#43;14155550100"`, "unchecked", "pbx.example.com", "!"+two)
	h.want(http.StatusOK, "/trunks?number=12", nil, `id="fault-number"`)
	h.want(http.StatusOK, "/trunks?number="+url.QueryEscape(two), nil, "no trunk has this number")
	h.want(http.StatusOK, "/trunks?number="+one[2:], nil, `id="fault-number">is ambiguous`)
	h.want(http.StatusOK, "/trunks?number="+url.QueryEscape("+1 (415) 555-0100"), nil, "Trunk &#43;14155550100")
}

func TestTrunk(t *testing.T) {
	t.Parallel()
	h := open(t, callwright.EntitlementSIP)
	tr := h.attach(org, one)
	h.want(http.StatusOK, "/trunks/"+one, nil, "holds no answered outbound call", "unknown", "alerts are off", "No alerts so far", "to numbers of the organization")
	status := must(h.status.Status(t.Context(), org, tr.ID))
	status.Servers[0].Health = health.Server{State: health.Healthy, CheckedAt: time.Now(), ResponseTime: 42 * time.Millisecond, Reason: "<script>"}
	status.Servers[0].Samples = []time.Duration{42 * time.Millisecond}
	status.History = health.History{
		Days:  []health.Day{{Date: time.Now().UTC().Truncate(24 * time.Hour), Up: 3 * time.Hour, Down: time.Hour}},
		Hours: []health.Hour{{Start: time.Now().UTC().Truncate(time.Hour), Up: 15 * time.Minute, Down: 15 * time.Minute}},
		Until: time.Now(),
	}
	status.Alerts = alert.States{alert.Unreachable: {Raised: true, TriggeredAt: time.Now()}}
	if err := siptest.StageStatus(t.Context(), h.status, status); err != nil {
		t.Fatal(err)
	}
	h.want(http.StatusOK, "/trunks/"+one, nil, "75.00%", "50.00%", "Health of the last day", "42 ms", "active: calls try it first", "&lt;script&gt;", "raised", "data-live", `id="live-log"`)
	for _, path := range []string{"/trunks/" + two, "/trunks/x", "/trunks/" + two + "/failover", "/trunks/" + two + "/complete", "/trunks/" + one + "/test/tc_x"} {
		h.want(http.StatusNotFound, path, nil)
	}
}

// TestTold checks that the page lists the deliveries of a number's alerts, and only those of the reader's organization.
func TestTold(t *testing.T) {
	t.Parallel()
	h := open(t, callwright.EntitlementSIP)
	tr, theirs := h.attach(org, one), h.attach("other", two)
	h.want(http.StatusOK, "/trunks/"+one+"/told", nil, "Nobody was told yet")
	now := time.Now()
	for i, d := range []sip.Delivery{
		{Kind: alert.Unreachable, Channel: alert.ByMail, To: "ops@example.com", State: sip.DeliverySent, DoneAt: &now},
		{Kind: alert.Unreachable, Channel: alert.ByWebhook, To: "https://example.com", State: sip.DeliveryGivenUp, Error: "<script>503"},
		{Kind: alert.FailureRate, Channel: alert.ByText, State: sip.DeliveryPending, Resolved: true},
	} {
		d.ID, d.Org, d.TrunkID, d.Number, d.Direction, d.CreatedAt = string(rune('a'+i)), org, tr.ID, tr.Number, sip.Outbound, now
		foreign := d
		foreign.ID, foreign.Org, foreign.TrunkID, foreign.To = "x"+d.ID, "other", theirs.ID, "theirs@example.com"
		for _, d := range []sip.Delivery{d, foreign} {
			if err := h.told.AddDelivery(t.Context(), d, 100); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, path := range []string{"/trunks/" + one, "/trunks/" + one + "/told"} {
		h.want(http.StatusOK, path, nil, "Who was told", "ops@example.com", "sent", "https://example.com", "given up", "&lt;script&gt;503", "contacts", "pending",
			"failure rate resolved", "!theirs@", "!Everybody who")
	}
	h.want(http.StatusNotFound, "/trunks/"+two+"/told", nil)
	for i := range 60 {
		d := sip.Delivery{ID: fmt.Sprint("n", i), Org: org, TrunkID: tr.ID, Number: tr.Number, To: fmt.Sprintf("to-%d.", i), State: sip.DeliverySent, CreatedAt: now.Add(time.Duration(i) * time.Second)}
		if err := h.told.AddDelivery(t.Context(), d, 100); err != nil {
			t.Fatal(err)
		}
	}
	h.want(http.StatusOK, "/trunks/"+one, nil, "Everybody who was told", "to-59.", "!to-54.")
	h.want(http.StatusOK, "/trunks/"+one+"/told", nil, "to-59.", "to-10.", "!to-9.", "after=")
	h.want(http.StatusOK, "/trunks/"+one+"/detach", url.Values{"direction": {"outbound"}}, "is detached", "!ops@")
}

func TestAttempt(t *testing.T) {
	t.Parallel()
	h := open(t, callwright.EntitlementSIP)
	tr, now := h.attach(org, one), time.Now()
	h.attach(org, two)
	for id, of := range map[string]callwright.OrgID{"mine": org, "theirs": "other", "unanswered": org} {
		r := calllog.Record{
			ID: id, Org: of, TrunkID: tr.ID, Number: one, Direction: sip.Outbound, From: one, To: "<script>alert(1)</script>", Attempt: 1,
			Server: "pbx.example.com:5061", Node: "n", StartedAt: now,
		}
		if err := h.log.Begin(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	h.want(http.StatusOK, "/trunks/"+one+"/calls/mine", nil, "Call attempt 1", "running", "data-live", "It is not answered yet.",
		"Messages appear when the attempt has ended.", "!was recorded", "!The call was up")
	end := calllog.End{AnsweredAt: &now, EndedAt: &now, SIPCode: 200, Status: "200 OK"}
	steps := []ladder.Event{
		{At: now, Sent: true, Method: "INVITE", CSeq: 1, Body: "PCMU"}, {At: now, Method: "INVITE", Status: 407, Reason: "Proxy Authentication Required"},
		{At: now, Method: "INVITE", Status: 200, Reason: "<b>OK</b>"},
	}
	if err := h.log.Finish(t.Context(), org, "mine", end, steps); err != nil {
		t.Fatal(err)
	}
	h.want(http.StatusOK, "/trunks/"+one+"/calls/mine", nil, "<svg", "200 OK", "INVITE", "PCMU", "&lt;b&gt;OK", "407 Proxy Authentication Required (INVITE)",
		`href="#step-2"`, `id="step-2"`, "The call was up for 0 ms.", "!<b>OK", "!failed", "!data-live")
	h.want(http.StatusOK, "/trunks/"+one, nil, "/calls/mine", "&lt;script&gt;", "!<script>alert", "!/calls/theirs", "!holds no answered")
	refused := []ladder.Event{{At: now, Method: "INVITE", Status: 486, Reason: "Busy Here"}}
	if err := h.log.Finish(t.Context(), org, "unanswered", calllog.End{EndedAt: &now, SIPCode: 486, Status: "486 Busy Here"}, refused); err != nil {
		t.Fatal(err)
	}
	h.want(http.StatusOK, "/trunks/"+one+"/calls/unanswered", nil, "It was not answered.", "✗</span> failed", "!The call was up")
	h.want(http.StatusNotFound, "/trunks/"+one+"/calls/theirs", nil)
	h.want(http.StatusNotFound, "/trunks/"+two+"/calls/mine", nil)
}

func TestCodecs(t *testing.T) {
	t.Parallel()
	h := open(t, callwright.EntitlementSIP)
	h.attach(org, one)
	for _, test := range []struct {
		do, name, notice string
		want             sip.CodecConfig
	}{
		{"down", "PCMU", "The codecs are changed", sip.CodecConfig{Codecs: []sip.CodecSetting{{Name: "PCMA", Enabled: true}, {Name: "PCMU", Enabled: true}}}},
		{"up", "PCMU", "The codecs are changed", sip.CodecConfig{Codecs: []sip.CodecSetting{{Name: "PCMU", Enabled: true}, {Name: "PCMA", Enabled: true}}}},
		{"up", "PCMU", "must not move PCMU beyond the ends of the list", sip.CodecConfig{Codecs: []sip.CodecSetting{{Name: "PCMU", Enabled: true}, {Name: "PCMA", Enabled: true}}}},
		{"off", "PCMA", "The codecs are changed", sip.CodecConfig{Codecs: []sip.CodecSetting{{Name: "PCMU", Enabled: true}, {Name: "PCMA"}}}},
		{"off", "PCMU", "must have at least one codec enabled", sip.CodecConfig{Codecs: []sip.CodecSetting{{Name: "PCMU", Enabled: true}, {Name: "PCMA"}}}},
		{"transcode", "on", "The codecs are changed", sip.CodecConfig{Codecs: []sip.CodecSetting{{Name: "PCMU", Enabled: true}, {Name: "PCMA"}}, Transcode: true}},
	} {
		h.want(http.StatusOK, "/trunks/"+one+"/codecs", url.Values{"direction": {"outbound"}, test.do: {test.name}}, test.notice)
		got := h.trunks.CodecsOf(must(h.trunks.Trunk(t.Context(), org, one, sip.Outbound)))
		if got.Transcode != test.want.Transcode || len(got.Codecs) != 2 || got.Codecs[0] != test.want.Codecs[0] || got.Codecs[1] != test.want.Codecs[1] {
			t.Errorf("%s %s: %v", test.do, test.name, got)
		}
	}
	h.want(http.StatusOK, "/trunks/"+one, nil, `name="down" value="PCMU" aria-label="PCMU down, outbound"`, `name="up" value="PCMA" aria-label="PCMA up, outbound"`,
		`name="off" value="PCMU"`, `name="on" value="PCMA"`, `!name="up" value="PCMU" aria-label="PCMU up, outbound"`, `!name="down" value="PCMA" aria-label="PCMA down, outbound"`)
	h.want(http.StatusNotFound, "/trunks/"+two+"/codecs", url.Values{"direction": {"outbound"}, "up": {"PCMU"}})
}

func TestDTMF(t *testing.T) {
	t.Parallel()
	h := open(t, callwright.EntitlementSIP)
	h.attach(org, one)
	path := "/trunks/" + one
	h.want(http.StatusOK, path, nil, "They come as telephone-events.", `name="mode" value="inband"`, `!name="mode" value="rfc2833"`)
	h.want(http.StatusOK, path+"/dtmf", url.Values{"direction": {"outbound"}, "mode": {"inband"}}, "telephone-events and tones", `name="mode" value="rfc2833"`)
	if got := must(h.trunks.Trunk(t.Context(), org, one, sip.Outbound)).Options.DTMF; got != sip.DTMFInband {
		t.Errorf("the mode is %q", got)
	}
	h.want(http.StatusNotFound, "/trunks/"+two+"/dtmf", url.Values{"direction": {"outbound"}, "mode": {"info"}})
}

func TestRedirects(t *testing.T) {
	t.Parallel()
	h := open(t, callwright.EntitlementSIP)
	h.attach(org, one)
	path := "/trunks/" + one
	h.want(http.StatusOK, path, nil, "They are not followed.", "Follow them at the trunk's own servers", "Follow them to every server", `!name="policy" value="off"`)
	h.want(http.StatusOK, path+"/redirects", url.Values{"policy": {"same_server"}}, "followed at the trunk&#39;s own servers", `name="policy" value="off"`)
	if got := must(h.trunks.Trunk(t.Context(), org, one, sip.Outbound)).Options.Redirects; got != sip.RedirectSameServer {
		t.Errorf("the policy is %q", got)
	}
	h.want(http.StatusNotFound, "/trunks/"+two+"/redirects", url.Values{"policy": {"any"}})
}

func TestFailover(t *testing.T) {
	t.Parallel()
	h := open(t, callwright.EntitlementSIP)
	h.attach(org, one)
	path := "/trunks/" + one + "/failover"
	h.want(http.StatusOK, path, nil, `value="pbx.example.com"`)
	h.want(http.StatusUnprocessableEntity, path, url.Values{"enabled": {"yes"}, "host1": {"a.example"}, "host2": {"10.0.0.1"}, "trigger": {"timeout"}},
		`id="fault-host2"`, `value="10.0.0.1"`)
	h.want(http.StatusUnprocessableEntity, path, url.Values{"enabled": {"yes"}, "host1": {"a.example"}, "port1": {"x"}}, `id="fault-port1"`, `id="fault-trigger"`)
	h.want(http.StatusOK, path, url.Values{
		"enabled": {"yes"}, "host1": {"a.example"}, "port1": {"5061"}, "host2": {"b.example"}, "trigger": {"timeout"}, "failback": {"manual"},
	}, "The failover is saved", "a.example:5061", "b.example", "<li>A server is connected and silent</li>", "when you save the failover again", "!<li>A server refuses")
	got := must(h.trunks.Trunk(t.Context(), org, one, sip.Outbound)).Failover
	if !got.Enabled || len(got.Servers) != 2 || got.Failback != failover.Manual || len(got.Triggers) != 1 {
		t.Errorf("got %+v", got)
	}
	h.want(http.StatusOK, "/trunks/"+one+"/detach", url.Values{"direction": {"outbound"}}, "is detached", "An inbound trunk is not probed")
	h.want(http.StatusOK, "/trunks/"+one+"/detach", url.Values{"direction": {"inbound"}}, "is detached", "Set up the first trunk")
}

// TestAnsweredInbound checks that an answered outbound call shows that a trunk works, and that an answered inbound call does not.
func TestAnsweredInbound(t *testing.T) {
	t.Parallel()
	h := open(t, callwright.EntitlementSIP)
	tr, now := h.attach(org, one), time.Now()
	for _, d := range []sip.Direction{sip.Inbound, sip.Outbound} {
		r := calllog.Record{ID: string(d), Org: org, TrunkID: tr.ID, Number: one, Direction: d, From: one, Attempt: 1, Node: "n", StartedAt: now}
		if err := h.log.Begin(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		if err := h.log.Finish(t.Context(), org, r.ID, calllog.End{AnsweredAt: &now, EndedAt: &now, SIPCode: 200, Status: "200 OK"}, nil); err != nil {
			t.Fatal(err)
		}
		text := "holds no answered outbound call"
		if d == sip.Outbound {
			text = "!" + text
		}
		h.want(http.StatusOK, "/trunks/"+one, nil, text)
	}
}
