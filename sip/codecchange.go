package sip

import (
	"context"
	"slices"

	"github.com/callwright/callwright"
)

// CodecChange changes one codec in the list that CodecsOf returns for a trunk, CodecConfig.Transcode, or both. All other settings stay
// unchanged.
type CodecChange struct {
	Number    string
	Direction Direction
	Codec     string // CodecSetting.Name of the codec that Move and Enabled change; empty means none
	Move      int    // number of positions towards the end of the list; negative moves towards its beginning
	Enabled   *bool
	Transcode *bool
}

// ChangeCodecs changes the current codecs of a trunk, and returns the changed trunk. It returns CodeNotFound if the organization has not
// attached that direction. It returns CodeBadRequest with the field "codec_config.codecs" if the trunk has no such codec, the codec would
// move beyond the ends of the list, or no codec would be enabled.
func (s *Service) ChangeCodecs(ctx context.Context, org callwright.OrgID, c CodecChange) (Trunk, error) {
	n, err := s.Number(ctx, org, c.Number)
	if err != nil {
		return Trunk{}, err
	}
	if err := checkDirection(c.Direction); err != nil {
		return Trunk{}, callwright.InField("direction", err)
	}
	return s.change(ctx, org, n, c.Direction, func(_ Record, t Trunk) (Trunk, error) {
		config := s.CodecsOf(t)
		if err := c.apply(&config); err != nil {
			return Trunk{}, err
		}
		config, err := config.normalized(s.cfg.Codecs)
		t.Codecs = &config
		return t, err
	})
}

// apply applies the change to a configuration. It returns CodeBadRequest if the codec is unknown or would move beyond the ends of the list.
func (c CodecChange) apply(to *CodecConfig) error {
	if c.Transcode != nil {
		to.Transcode = *c.Transcode
	}
	if c.Codec == "" {
		return nil
	}
	i := slices.IndexFunc(to.Codecs, func(s CodecSetting) bool { return s.Name == c.Codec })
	if i < 0 {
		return callwright.Invalid("codec_config.codecs", "has no codec %q: change a codec of the list", callwright.Clip(c.Codec, 60))
	}
	setting, j := to.Codecs[i], i+c.Move
	if j < 0 || j >= len(to.Codecs) {
		return callwright.Invalid("codec_config.codecs", "must not move %s beyond the ends of the list", c.Codec)
	}
	if c.Enabled != nil {
		setting.Enabled = *c.Enabled
	}
	to.Codecs = slices.Insert(slices.Delete(to.Codecs, i, i+1), j, setting)
	return nil
}
