package sip

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/sip/sdp"
)

// CodecConfig lists a trunk's codecs in the order of preference. On the trunk's calls we offer those that are enabled.
type CodecConfig struct {
	Codecs []CodecSetting
	// Transcode allows a call to use different codecs of the list in its two directions, and the peer to change between them. Without it,
	// our answer names a single codec for both directions, or both laws of G.711.
	Transcode bool
}

// CodecSetting is one entry of CodecConfig.Codecs.
type CodecSetting struct {
	Name    string // PCMU, PCMA, G.729, Opus or G.722, as in the API specification
	Enabled bool
}

// codecNames lists the codecs that a trunk may name.
var codecNames = []sdp.Codec{sdp.PCMU, sdp.PCMA, sdp.G729, sdp.Opus, sdp.G722}

// parseCodec returns the codec whose API or SDP name equals text, ignoring case.
func parseCodec(text string) (name string, codec sdp.Codec, ok bool) {
	for _, c := range codecNames {
		if strings.EqualFold(text, c.Name()) || strings.EqualFold(text, string(c)) {
			return c.Name(), c, true
		}
	}
	return "", "", false
}

// checkEngines returns an error if an engine's codec cannot be negotiated in SDP.
func checkEngines(names []string) error {
	for _, name := range names {
		if _, ok := sdp.ParseCodec(name); !ok {
			return fmt.Errorf("sip: Config.Codecs: %q must be a codec of package sdp, such as PCMU", name)
		}
	}
	return nil
}

// standard is the configuration of trunks whose Codecs is nil.
var standard = CodecConfig{Codecs: []CodecSetting{
	{Name: "PCMU", Enabled: true}, {Name: "PCMA", Enabled: true}, {Name: "Opus", Enabled: true},
}}

// engine returns the name in engines that denotes a codec. ok is false if none does.
func engine(engines []string, codec sdp.Codec) (name string, ok bool) {
	i := slices.IndexFunc(engines, func(name string) bool {
		c, _ := sdp.ParseCodec(name)
		return c == codec
	})
	if i < 0 {
		return "", false
	}
	return engines[i], true
}

// normalized returns the configuration with the API's codec names. It returns CodeBadRequest if a codec is unknown, repeated, or enabled
// without an engine, and if no codec is enabled.
func (c CodecConfig) normalized(engines []string) (CodecConfig, error) {
	settings := make([]CodecSetting, 0, len(c.Codecs))
	for i, setting := range c.Codecs {
		at := "codec_config.codecs[" + strconv.Itoa(i) + "]"
		name, codec, known := parseCodec(setting.Name)
		if !known {
			return c, callwright.Invalid(at, "must be PCMU, PCMA, G.729, Opus or G.722")
		}
		if slices.ContainsFunc(settings, func(s CodecSetting) bool { return s.Name == name }) {
			return c, callwright.Invalid(at, "must be unique: %s is given twice", name)
		}
		if _, ok := engine(engines, codec); setting.Enabled && !ok {
			return c, callwright.Invalid(at, "must not be enabled: this build has no engine for %s", name)
		}
		settings = append(settings, CodecSetting{Name: name, Enabled: setting.Enabled})
	}
	if !slices.ContainsFunc(settings, func(s CodecSetting) bool { return s.Enabled }) {
		return c, callwright.Invalid("codec_config.codecs", "must have at least one codec enabled")
	}
	c.Codecs = settings
	return c, nil
}

// CodecsOf returns the codecs of a trunk in the order of preference. The list begins with the configured codecs or, if none are configured,
// with the standard ones. The other codecs follow, disabled. Codecs without an engine are omitted.
func (s *Service) CodecsOf(t Trunk) CodecConfig {
	given := cmp.Or(t.Codecs, &standard)
	shown := CodecConfig{Transcode: given.Transcode}
	add := func(setting CodecSetting) {
		_, codec, _ := parseCodec(setting.Name)
		same := func(s CodecSetting) bool { return s.Name == setting.Name }
		if _, ok := engine(s.cfg.Codecs, codec); ok && !slices.ContainsFunc(shown.Codecs, same) {
			shown.Codecs = append(shown.Codecs, setting)
		}
	}
	for _, setting := range given.Codecs {
		add(setting)
	}
	for _, c := range codecNames {
		add(CodecSetting{Name: c.Name()})
	}
	return shown
}

// offered returns the SDP names of the enabled codecs in order. It omits codecs without an engine. If none is left, it returns all engines.
func (c CodecConfig) offered(engines []string) []string {
	var names []string
	for _, setting := range c.Codecs {
		_, codec, _ := parseCodec(setting.Name)
		if name, ok := engine(engines, codec); ok && setting.Enabled {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return engines
	}
	return names
}
