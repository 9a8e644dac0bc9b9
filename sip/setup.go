package sip

import (
	"context"
	"fmt"

	"github.com/callwright/callwright"
)

// Setup is what the owner of a telephone system needs to send calls to us.
type Setup struct {
	Host         string
	Port         int
	Instructions string
	Username     string // that we register with, for a number with AuthRegister; empty: none
}

// instructions takes the host, the port, and the first and the last port for media.
const instructions = `Send calls as SIP over TLS to sip:%[1]s:%[2]d;transport=tls. TLS 1.2 or newer is required; SIP over UDP or plain TCP is not answered.
Have your system trust the root certificate that has signed ours, and check the name %[1]s.
Encrypt media with SRTP, keys in the SDP (RTP/SAVP), suite AES_CM_128_HMAC_SHA1_80. Media goes over UDP ports %[3]d to %[4]d, RTCP over the port after that of RTP.
Let every address of your region through your firewall, for signaling and for media.
Write numbers in E.164, such as +15551234567; the plus may be left out.
Send DTMF as telephone events in RTP (RFC 2833, RFC 4733), not in the audio.
An inbound trunk that lists addresses takes calls from these alone; one with credentials challenges them, so have your system answer with the same user name and password.
When the trunk registers, we send REGISTER to your system: give the account there the password that was shown when the number was attached.`

// OutboundSetup is what an organization's telephone system needs to send calls to us; number may be empty. CodeNotFound
// for a number that the organization has not attached; CodeUnavailable when the region has no host.
func (s *Service) OutboundSetup(ctx context.Context, org callwright.OrgID, number string) (Setup, error) {
	var r Record
	if number != "" {
		var err error
		if r, err = s.attached(ctx, org, number); err != nil {
			return Setup{}, err
		}
	}
	region, err := s.Firewall(ctx, org)
	if err != nil {
		return Setup{}, err
	}
	if region.Host == "" {
		return Setup{}, callwright.Errorf(callwright.CodeUnavailable, "the region %s has no SIP server set up here", region.Name)
	}
	setup := Setup{Host: region.Host, Port: region.Port}
	setup.Instructions = fmt.Sprintf(instructions, region.Host, region.Port, region.RTPLow, region.RTPHigh)
	if r.Inbound != nil {
		setup.Username = r.Inbound.Options.Register.Username
	}
	return setup, nil
}

// attached is the record of a number that has one; CodeNotFound when it has none.
func (s *Service) attached(ctx context.Context, org callwright.OrgID, number string) (Record, error) {
	r, err := s.Get(ctx, org, number)
	if err == nil && r == (Record{}) {
		err = callwright.NotFound("number")
	}
	return r, err
}
