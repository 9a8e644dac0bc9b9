// Package codec makes RTP payloads of audio and audio of RTP payloads: the codecs that a call can be negotiated with.
package codec

import (
	"strings"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/sip"
)

// engines makes the codecs by their SDP names. G.729 has none: there is no engine with a licence that fits.
var engines = []struct {
	name string
	make func() (sip.Codec, error)
}{
	{"PCMU", func() (sip.Codec, error) { return pcmu, nil }},
	{"PCMA", func() (sip.Codec, error) { return pcma, nil }},
	{"opus", newOpus},
	{"G722", func() (sip.Codec, error) { return newG722(), nil }},
}

// New gives a codec by its SDP name, in any case (RFC 4855, section 3). A codec without an engine here is
// CodeUnavailable.
func New(name string) (sip.Codec, error) {
	for _, e := range engines {
		if strings.EqualFold(e.name, name) {
			return e.make()
		}
	}
	return nil, callwright.Errorf(callwright.CodeUnavailable, "there is no engine for the codec %q", name)
}

// Names are the SDP names of the codecs that New makes.
func Names() []string {
	names := make([]string, len(engines))
	for i, e := range engines {
		names[i] = e.name
	}
	return names
}
