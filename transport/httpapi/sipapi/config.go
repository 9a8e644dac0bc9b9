package sipapi

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/alert"
	"github.com/callwright/callwright/sip/failover"
	"github.com/callwright/callwright/transport/httpapi"
	"github.com/callwright/callwright/transport/httpapi/internal/wire"
	oas "github.com/callwright/callwright/transport/oas/sipoas"
)

// GetSipConfig serves GET /v1/sip/config. It returns the failover, codecs and alerts of one direction of a number.
func (a *api) GetSipConfig(ctx context.Context, params oas.GetSipConfigParams) (*oas.SipAdvancedConfigReply, error) {
	t, err := a.cfg.Trunks.Trunk(ctx, httpapi.Org(ctx), params.PhoneNumber, sip.Direction(params.Direction))
	if err != nil {
		return nil, err
	}
	return advancedConfig(t), nil
}

// UpdateSipConfig serves PATCH /v1/sip/config. It changes the given settings among failover, codecs and alerts of one direction of a
// number.
func (a *api) UpdateSipConfig(
	ctx context.Context, req *oas.SipAdvancedConfigUpdate,
) (*oas.SipAdvancedConfigReply, error) {
	change := sip.ConfigChange{
		Number: req.PhoneNumber, Direction: sip.Direction(req.Direction),
		Failover: callwright.Optional[failover.Config]{Set: req.FailoverConfig.Set},
		Codecs:   callwright.Optional[sip.CodecConfig]{Set: req.CodecConfig.Set},
		Alerts:   callwright.Optional[alert.Config]{Set: req.AlertConfig.Set},
	}
	var order []int
	if config, ok := req.FailoverConfig.Get(); ok {
		var err error
		if change.Failover.Value, order, err = failoverOf(config); err != nil {
			return nil, err
		}
	}
	if config, ok := req.CodecConfig.Get(); ok {
		change.Codecs.Value = codecsOf(config)
	}
	if config, ok := req.AlertConfig.Get(); ok {
		change.Alerts.Value = alertsOf(config)
	}
	t, err := a.cfg.Trunks.Configure(ctx, httpapi.Org(ctx), change)
	if err != nil {
		return nil, atEndpoint(order, err)
	}
	httpapi.LogID(ctx, "trunk_id", t.ID)
	httpapi.LogID(ctx, "phone_number", t.Number.String())
	return advancedConfig(t), nil
}

func advancedConfig(t sip.Trunk) *oas.SipAdvancedConfigReply {
	return &oas.SipAdvancedConfigReply{Data: oas.SipAdvancedConfig{
		PhoneNumber: t.Number.String(), Direction: oas.SipDirection(t.Direction), FailoverConfig: failoverOrNull(t.Failover),
		CodecConfig: codecsOrNull(t.Codecs), AlertConfig: alertsOrNull(t.Alerts),
	}}
}

// endpointsPath is the path of a failover's servers in a body.
const endpointsPath = "failover_config.endpoints"

// failoverOf translates a failover, with its servers sorted by priority. order holds the index of each sorted server in the body. Two
// servers with equal priorities cause CodeBadRequest.
func failoverOf(given oas.SipFailoverConfig) (config *failover.Config, order []int, err error) {
	config = &failover.Config{Enabled: given.Enabled, Failback: failover.Failback(given.Failback.Value)}
	for i, e := range given.Endpoints {
		at := fmt.Sprintf("%s[%d]", endpointsPath, i)
		same := func(o oas.SipFailoverEndpoint) bool { return o.Priority == e.Priority }
		if slices.ContainsFunc(given.Endpoints[:i], same) {
			return nil, nil, callwright.Invalid(at+".priority", "must be unique: another server has this priority")
		}
		order = append(order, i)
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(given.Endpoints[i].Priority, given.Endpoints[j].Priority) })
	for _, i := range order {
		e := given.Endpoints[i]
		config.Servers = append(config.Servers, failover.Server{Host: e.Host, Port: uint16(e.Port.Value)})
	}
	for _, t := range given.Triggers {
		config.Triggers = append(config.Triggers, failover.Trigger(t))
	}
	return config, order, nil
}

// atEndpoint replaces the index of a sorted server in the field of an error by the server's index in the body.
func atEndpoint(order []int, err error) error {
	e, ok := errors.AsType[*callwright.Error](err)
	if !ok {
		return err
	}
	rest, within := strings.CutPrefix(e.Field, endpointsPath+"[")
	index, member, closed := strings.Cut(rest, "]")
	i, numErr := strconv.Atoi(index)
	if !within || !closed || numErr != nil || i >= len(order) {
		return err
	}
	placed := *e
	placed.Field = fmt.Sprintf("%s[%d]%s", endpointsPath, order[i], member)
	return &placed
}

func failoverOrNull(c *failover.Config) oas.NilSipFailoverConfig {
	if c == nil {
		return oas.NilSipFailoverConfig{Null: true}
	}
	config := oas.SipFailoverConfig{
		Enabled: c.Enabled, Endpoints: make([]oas.SipFailoverEndpoint, len(c.Servers)),
		Failback: oas.NewOptSipFailoverConfigFailback(oas.SipFailoverConfigFailback(cmp.Or(c.Failback, failover.Auto))),
	}
	for i, s := range c.Servers {
		config.Endpoints[i] = oas.SipFailoverEndpoint{
			Host: s.Host, Port: oas.OptInt{Value: int(s.Port), Set: s.Port != 0},
			Transport: oas.NewOptSipTrunkTransport(oas.SipTrunkTransportTLS), Priority: i + 1,
		}
	}
	for _, t := range c.Triggers {
		config.Triggers = append(config.Triggers, oas.SipFailoverConfigTriggersItem(t))
	}
	return oas.NewNilSipFailoverConfig(config)
}

// codecsOf translates a list of codecs. A codec given only by name is enabled.
func codecsOf(given oas.SipCodecConfig) *sip.CodecConfig {
	config := &sip.CodecConfig{Transcode: given.Transcode.Value}
	for _, item := range given.Codecs {
		setting := sip.CodecSetting{Name: item.String, Enabled: true}
		if s, ok := item.GetSipCodecSetting(); ok {
			setting = sip.CodecSetting{Name: s.Name, Enabled: s.Enabled.Or(true)}
		}
		config.Codecs = append(config.Codecs, setting)
	}
	return config
}

func codecsOrNull(c *sip.CodecConfig) oas.NilSipCodecConfig {
	if c == nil {
		return oas.NilSipCodecConfig{Null: true}
	}
	config := oas.SipCodecConfig{Codecs: make([]oas.SipCodecItem, len(c.Codecs)), Transcode: oas.NewOptBool(c.Transcode)}
	for i, s := range c.Codecs {
		config.Codecs[i] = oas.NewStringSipCodecItem(s.Name)
		if !s.Enabled {
			config.Codecs[i] = oas.NewSipCodecSettingSipCodecItem(oas.SipCodecSetting{Name: s.Name, Enabled: oas.NewOptBool(false)})
		}
	}
	return oas.NewNilSipCodecConfig(config)
}

func alertsOf(given oas.SipAlertConfig) *alert.Config {
	t, c := given.Thresholds.Value, given.Channels.Value
	return &alert.Config{
		Enabled: given.Enabled,
		Thresholds: alert.Thresholds{
			Unreachable: wire.Minutes(float64(t.UnreachableMinutes.Value)), FailureRate: t.FailureRatePercent.Value,
			FailureRateWindow: wire.Minutes(float64(t.FailureRateWindowMinutes.Value)),
			ResponseTime:      time.Duration(t.ResponseTimeMs.Value) * time.Millisecond,
		},
		Channels: alert.Channels{Email: c.Email.Value, SMS: c.SMS.Value, Webhook: c.Webhook.Value},
	}
}

func alertsOrNull(c *alert.Config) oas.NilSipAlertConfig {
	if c == nil {
		return oas.NilSipAlertConfig{Null: true}
	}
	count := func(d, unit time.Duration) oas.OptInt { return oas.OptInt{Value: int(d / unit), Set: d != 0} }
	return oas.NewNilSipAlertConfig(oas.SipAlertConfig{
		Enabled: c.Enabled,
		Thresholds: oas.NewOptSipAlertThresholds(oas.SipAlertThresholds{
			UnreachableMinutes:       count(c.Thresholds.Unreachable, time.Minute),
			FailureRatePercent:       oas.OptFloat64{Value: c.Thresholds.FailureRate, Set: c.Thresholds.FailureRate != 0},
			FailureRateWindowMinutes: count(c.Thresholds.FailureRateWindow, time.Minute),
			ResponseTimeMs:           count(c.Thresholds.ResponseTime, time.Millisecond),
		}),
		Channels: oas.NewOptSipAlertChannels(oas.SipAlertChannels{
			Email: oas.NewOptBool(c.Channels.Email), SMS: oas.NewOptBool(c.Channels.SMS), Webhook: wire.OptNilText(c.Channels.Webhook),
		}),
	})
}
