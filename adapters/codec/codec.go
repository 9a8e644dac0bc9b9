// Package codec joins the codecs that a program offers to its calls. Each codec is a package of its own below this one, and the
// program names the ones it uses, so that it downloads and links no others:
//
//	codecs := codec.Set{g711.PCMU(), g711.PCMA(), opus.Engine(), g722.Engine()}
//	media, err := rtpmedia.New(rtpmedia.Config{IP: ip, Codecs: codecs.New})
//
// G.729 has no package: no engine has a suitable license.
package codec

import (
	"strings"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/sip"
)

// Engine makes codecs of one SDP encoding name.
type Engine struct {
	// Name is the encoding name of the SDP (RFC 4855), such as "PCMU".
	Name string
	// New makes the codec of one direction of a call.
	New func() (sip.Codec, error)
}

// Set is the engines that a program has, in its order of preference.
type Set []Engine

// New makes a codec by its SDP name, in any case (RFC 4855, section 3). A name that is not in the set is CodeUnavailable.
// It is a sip.Codecs.
func (s Set) New(name string) (sip.Codec, error) {
	for _, e := range s {
		if strings.EqualFold(e.Name, name) {
			return e.New()
		}
	}
	return nil, callwright.Errorf(callwright.CodeUnavailable, "there is no engine for the codec %q", name)
}

// Names returns the SDP names of the set, in its order.
func (s Set) Names() []string {
	names := make([]string, len(s))
	for i, e := range s {
		names[i] = e.Name
	}
	return names
}
