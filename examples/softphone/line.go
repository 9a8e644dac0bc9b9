package main

import (
	"context"
	"crypto/tls"
	"net"
	"net/netip"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/codec"
	"github.com/callwright/callwright/adapters/codec/g711"
	"github.com/callwright/callwright/adapters/codec/g722"
	"github.com/callwright/callwright/adapters/codec/opus"
	"github.com/callwright/callwright/adapters/sipua"
	"github.com/callwright/callwright/adapters/sipua/rtpmedia"
	"github.com/callwright/callwright/adapters/testca"
	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/uri"
)

// codecs are the codecs of the phone, in its order of preference.
var codecs = codec.Set{g711.PCMU(), g711.PCMA(), opus.Engine(), g722.Engine()}

// open creates the phone's user agent. The system chooses its media ports.
func (o options) open() (*sipua.UA, error) {
	host, _, err := net.SplitHostPort(o.Listen)
	if err != nil {
		return nil, err
	}
	ip, err := netip.ParseAddr(host)
	if err != nil {
		return nil, err
	}
	ca, err := testca.Open(o.Data)
	if err != nil {
		return nil, err
	}
	certificate, err := ca.Issue("localhost", ip.String())
	if err != nil {
		return nil, err
	}
	media, err := rtpmedia.New(rtpmedia.Config{IP: ip, Codecs: codecs.New, Runtime: callwright.Runtime{Logger: o.logger()}})
	if err != nil {
		return nil, err
	}
	routes := anyone{}
	if o.Server != "" {
		if routes.server, err = uri.Parse(o.Server); err != nil {
			return nil, err
		}
		routes.server.Params = []uri.Param{{Name: "transport", Value: string(uri.TLS)}}
	}
	return sipua.New(sipua.Config{
		Listen: o.Listen, Certificates: []tls.Certificate{certificate}, Roots: ca.Pool(), Media: media, Routes: routes,
		AllowPrivate: true, UserAgent: "callwright-softphone", Runtime: callwright.Runtime{Logger: o.logger()},
	})
}

// anyone provides the routes of a phone: it accepts every inbound call, and sends outbound calls to one server.
type anyone struct{ server uri.URI }

// Inbound accepts every call.
func (anyone) Inbound(_ context.Context, to callwright.PhoneNumber, _ sip.Peer) (sip.Route, error) {
	return sip.Route{Number: to, Codecs: codecs.Names()}, nil
}

// Outbound routes every call to the server.
func (a anyone) Outbound(_ context.Context, _ callwright.OrgID, from callwright.PhoneNumber) (sip.Route, error) {
	return sip.Route{Number: from, Servers: []uri.URI{a.server}, Codecs: codecs.Names(), Verify: sip.VerifyFull}, nil
}
