// Package codec combines the codecs that a program offers for calls. Each codec is a separate package below this one. The program imports
// only the packages that it uses, so that it downloads and links no others:
//
//	codecs := codec.Set{g711.PCMU(), g711.PCMA(), opus.Engine(), g722.Engine()}
//	media, err := rtpmedia.New(rtpmedia.Config{IP: ip, Codecs: codecs.New})
//
// There is no package for G.729, because no implementation has a suitable license.
package codec

import (
	"strings"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/sip"
)

// Engine creates codecs for one SDP encoding name.
type Engine struct {
	// Name is the SDP encoding name (RFC 4855), such as "PCMU".
	Name string
	// New creates a codec for one direction of a call.
	New func() (sip.Codec, error)
}

// Set lists the engines of a program, in order of preference.
type Set []Engine

// New creates a codec by its SDP name, ignoring case (RFC 4855, section 3). It returns CodeUnavailable if the set does not contain the
// name. New is a sip.Codecs.
func (s Set) New(name string) (sip.Codec, error) {
	for _, e := range s {
		if strings.EqualFold(e.Name, name) {
			return e.New()
		}
	}
	return nil, callwright.Errorf(callwright.CodeUnavailable, "this program cannot use the codec %q: its codec.Set contains no engine of that name", name)
}

// Names returns the SDP names of the set, in order of preference.
func (s Set) Names() []string {
	names := make([]string, len(s))
	for i, e := range s {
		names[i] = e.Name
	}
	return names
}
