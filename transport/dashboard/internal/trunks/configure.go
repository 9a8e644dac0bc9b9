package trunks

import (
	"context"
	"net/http"
	"slices"
	"strconv"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/failover"
	"github.com/callwright/callwright/transport/dashboard/internal/page"
)

// codecs moves, enables or disables a codec of a trunk, or changes whether calls may be transcoded.
func (p pages) codecs(ctx context.Context, r *page.Request) (page.Answer, error) {
	n, err := number(r)
	if err != nil {
		return nil, err
	}
	c := sip.CodecChange{Number: n.String(), Direction: sip.Direction(r.Field("direction"))}
	for name, change := range map[string]sip.CodecChange{
		"up": {Move: -1}, "down": {Move: 1}, "on": {Enabled: new(true)}, "off": {Enabled: new(false)},
	} {
		if codec := r.Field(name); codec != "" {
			c.Codec, c.Move, c.Enabled = codec, change.Move, change.Enabled
		}
	}
	if given := r.Field("transcode"); given != "" {
		c.Transcode = new(given == "on")
	}
	_, err = p.cfg.Trunks.ChangeCodecs(ctx, r.Org(), c)
	answer := page.SeeOther{To: toTrunk(n.String()), Notice: "The codecs are changed. Calls that begin now are offered them."}
	faults, _ := page.FaultsOf(err, nil)
	if text, ok := faults["codec_config.codecs"]; ok {
		answer.Notice, err = "Nothing was changed: the codecs "+text+".", nil
	}
	return answer, err
}

// dtmf changes the DTMF mode of a trunk.
func (p pages) dtmf(ctx context.Context, r *page.Request) (page.Answer, error) {
	n, err := number(r)
	if err != nil {
		return nil, err
	}
	in := sip.DirectionInput{Type: sip.Direction(r.Field("direction")), DTMF: new(sip.DTMFMode(r.Field("mode")))}
	_, err = p.cfg.Trunks.Update(ctx, r.Org(), n.String(), in)
	return page.SeeOther{To: toTrunk(n.String()), Notice: "Keys are changed: the next call takes " + word(*in.DTMF) + "."}, err
}

// dtmfModes lists all DTMF modes in the order of the form.
var dtmfModes = []sip.DTMFMode{sip.DTMFEvents, sip.DTMFInfo, sip.DTMFInband}

// redirects changes the redirect policy of a number's outbound trunk.
func (p pages) redirects(ctx context.Context, r *page.Request) (page.Answer, error) {
	n, err := number(r)
	if err != nil {
		return nil, err
	}
	in := sip.DirectionInput{Type: sip.Outbound, Redirects: new(sip.RedirectPolicy(r.Field("policy")))}
	_, err = p.cfg.Trunks.Update(ctx, r.Org(), n.String(), in)
	return page.SeeOther{To: toTrunk(n.String()), Notice: "Redirections are changed: those of the next call are " + word(*in.Redirects) + "."}, err
}

// redirectPolicies lists all redirect policies in the order of the form.
var redirectPolicies = []sip.RedirectPolicy{sip.RedirectOff, sip.RedirectSameServer, sip.RedirectAny}

// failoverForm holds the data of the page that changes a trunk's failover.
type failoverForm struct {
	Number   string
	Enabled  bool
	Servers  [failover.MaxServers]server
	Triggers []trigger
	Manual   bool
	Faults   page.Faults
}

// server is a row of the failover form, as typed.
type server struct{ Host, Port string }

type trigger struct {
	Name    failover.Trigger
	Text    string
	Checked bool
}

// triggers lists all failover triggers with their descriptions.
var triggers = []trigger{
	{Name: failover.Unreachable, Text: "A server cannot be reached, or answers 408, 502, 503 or 504"},
	{Name: failover.Timeout, Text: "A server is connected and silent"},
	{Name: failover.AuthFailure, Text: "A server refuses our credentials"},
}

// failover shows the form that changes the failover of a number's outbound trunk.
func (p pages) failover(ctx context.Context, r *page.Request) (page.Answer, error) {
	n, err := number(r)
	if err != nil {
		return nil, err
	}
	t, err := p.cfg.Trunks.Trunk(ctx, r.Org(), n.String(), sip.Outbound)
	if err != nil {
		return nil, err
	}
	form := failoverForm{Number: n.String()}
	config := failover.Config{}
	if t.Failover != nil {
		config = *t.Failover
	}
	if len(config.Servers) == 0 {
		if config.Servers, err = t.Servers(); err != nil {
			return nil, err
		}
	}
	form.Enabled, form.Manual = config.Enabled, config.Failback == failover.Manual
	for i, s := range config.Servers {
		form.Servers[i].Host = s.Host
		if s.Port != 0 {
			form.Servers[i].Port = strconv.Itoa(int(s.Port))
		}
	}
	form.Triggers = triggersOf(config)
	return &page.View{Page: "failover", Title: "Failover of " + n.String(), Data: form}, nil
}

// triggersOf returns all triggers, with those of c checked. If c names no triggers, all are checked.
func triggersOf(c failover.Config) []trigger {
	all := slices.Clone(triggers)
	for i := range all {
		all[i].Checked = len(c.Triggers) == 0 || slices.Contains(c.Triggers, all[i].Name)
	}
	return all
}

// setFailover changes the failover of a number's outbound trunk, or shows the form again with its faults.
func (p pages) setFailover(ctx context.Context, r *page.Request) (page.Answer, error) {
	n, err := number(r)
	if err != nil {
		return nil, err
	}
	form := failoverForm{
		Number: n.String(), Enabled: r.Field("enabled") != "", Manual: r.Field("failback") == string(failover.Manual),
		Triggers: slices.Clone(triggers), Faults: page.Faults{},
	}
	config := failover.Config{Enabled: form.Enabled, Failback: failover.Failback(r.Field("failback"))}
	names := map[string]string{"failover_config.endpoints": "host1"}
	for i := range form.Servers {
		row := strconv.Itoa(i + 1)
		s := server{Host: r.Field("host" + row), Port: r.Field("port" + row)}
		form.Servers[i] = s
		if s == (server{}) {
			continue
		}
		port := whole(s.Port)
		if port < 0 {
			form.Faults["port"+row] = "must be from 1 to 65535"
		}
		names["failover_config.endpoints["+strconv.Itoa(len(config.Servers))+"].host"] = "host" + row
		config.Servers = append(config.Servers, failover.Server{Host: s.Host, Port: uint16(max(0, port))})
	}
	for i := range form.Triggers {
		form.Triggers[i].Checked = slices.Contains(r.PostForm["trigger"], string(form.Triggers[i].Name))
		if form.Triggers[i].Checked {
			config.Triggers = append(config.Triggers, form.Triggers[i].Name)
		}
	}
	if form.Enabled && len(config.Triggers) == 0 {
		form.Faults["trigger"] = "choose at least one trigger"
	}
	if len(form.Faults) == 0 {
		_, err = p.cfg.Trunks.Configure(ctx, r.Org(), sip.ConfigChange{
			Number: n.String(), Direction: sip.Outbound, Failover: callwright.Optional[failover.Config]{Set: true, Value: &config},
		})
		faults, mend := page.FaultsOf(err, names)
		if err == nil {
			return page.SeeOther{To: toTrunk(n.String()), Notice: "The failover is saved."}, nil
		}
		if !mend {
			return nil, err
		}
		form.Faults = faults
	}
	return &page.View{Page: "failover", Title: "Failover of " + n.String(), Status: http.StatusUnprocessableEntity, Data: form}, nil
}

// detach deletes the trunk of one direction of a number.
func (p pages) detach(ctx context.Context, r *page.Request) (page.Answer, error) {
	n, err := number(r)
	if err != nil {
		return nil, err
	}
	d := sip.Direction(r.Field("direction"))
	if _, err := p.cfg.Trunks.Detach(ctx, r.Org(), n.String(), []sip.Direction{d}); err != nil {
		return nil, err
	}
	record, err := p.cfg.Trunks.Get(ctx, r.Org(), n.String())
	answer := page.SeeOther{To: toTrunk(n.String()), Notice: "The " + string(d) + " trunk is detached."}
	if record == (sip.Record{}) {
		answer.To = "/trunks"
	}
	return answer, err
}
