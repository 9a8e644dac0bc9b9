package setup

import (
	"context"
	"fmt"
	"slices"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/sip"
)

// Trunks reads the trunks of numbers; sip.Service implements it.
type Trunks interface {
	// Get returns the trunks of a number. The Record is empty if the number is not attached. Get returns CodeBadRequest with the field
	// "phone_number" if the text is not a number.
	Get(ctx context.Context, org callwright.OrgID, number string) (sip.Record, error)
}

// Config configures a Service.
type Config struct {
	Trunks        Trunks             `required:"always"`
	Organizations callwright.Tenants `required:"always"`
	Drafts        Store              `required:"always"`
	Regions       []Region           `required:"always"` // names must be unique; the first region serves organizations without a Region
	Work          callwright.Work    `required:"always"` // runs the deletion of old drafts

	callwright.Runtime
}

// Service describes to customers how to reach a deployment, and stores the set-ups of trunks in progress.
type Service struct{ cfg Config }

// New returns a service, and registers the periodic work that deletes old drafts with c.Work. It returns an error if the configuration is
// invalid.
func New(c Config) (*Service, error) {
	if err := callwright.PrepareConfig(&c); err != nil {
		return nil, err
	}
	if err := checkRegions(c.Regions); err != nil {
		return nil, err
	}
	s := &Service{cfg: c}
	c.Work.Every(callwright.QueueUpkeep, taskDelete, deleteEvery, s.deleteOld)
	return s, nil
}

// Firewall returns the region that carries an organization's calls: the organization's Region or, if it names none, the first one. It
// returns CodeUnavailable if this deployment lacks the region.
func (s *Service) Firewall(ctx context.Context, org callwright.OrgID) (Region, error) {
	o, err := s.cfg.Organizations.Organization(ctx, org)
	if err != nil || o.Region == "" {
		return s.cfg.Regions[0], err
	}
	i := slices.IndexFunc(s.cfg.Regions, func(r Region) bool { return r.Name == o.Region })
	if i < 0 {
		return Region{}, callwright.Errorf(callwright.CodeUnavailable, "this server has no region %s: ask its operator for another region of the organization", o.Region)
	}
	return s.cfg.Regions[i], nil
}

// OutboundSetup contains the settings with which a customer's telephone system sends calls here. These calls are outbound for the customer
// and inbound for us.
type OutboundSetup struct {
	Host         string
	Port         int
	Instructions string
	Username     string // user name of our registrations, for a number with sip.AuthRegister; empty if none
}

// instructions is the format of Instructions. Its arguments are the host, the SIP port, and the first and the last RTP port.
const instructions = `Send calls as SIP over TLS to sip:%[1]s:%[2]d;transport=tls. TLS 1.2 or newer is required; SIP over UDP or plain TCP is not answered.
Trust the root certificate that signed the server's certificate, and check the name %[1]s.
Encrypt media with SRTP, keys in the SDP (RTP/SAVP), suite AES_CM_128_HMAC_SHA1_80. RTP uses UDP ports %[3]d to %[4]d, RTCP the port after that of RTP.
Let every address of your region through your firewall, for signaling and for media.
Write numbers in E.164, such as +15551234567; the plus may be left out.
Send DTMF as telephone events in RTP (RFC 2833, RFC 4733), not in the audio.
An inbound trunk with a list of addresses accepts calls from these addresses only. An inbound trunk with credentials challenges calls: configure the same user name and password in your system.
For a trunk that registers, the server sends REGISTER to your system: give its account the password that was shown when the number was attached.`

// OutboundSetup returns the settings with which an organization's telephone system sends calls to this server. With a non-empty number, it
// also returns the user name with which the number's inbound trunk registers. OutboundSetup returns CodeNotFound if the organization has
// not attached the number, and CodeUnavailable if this deployment lacks the organization's region or the region has no Host.
func (s *Service) OutboundSetup(ctx context.Context, org callwright.OrgID, number string) (OutboundSetup, error) {
	var r sip.Record
	if number != "" {
		var err error
		if r, err = s.cfg.Trunks.Get(ctx, org, number); err != nil {
			return OutboundSetup{}, err
		}
		if r == (sip.Record{}) {
			return OutboundSetup{}, callwright.NotFound("number")
		}
	}
	region, err := s.Firewall(ctx, org)
	if err != nil {
		return OutboundSetup{}, err
	}
	if region.Host == "" {
		return OutboundSetup{}, callwright.Errorf(callwright.CodeUnavailable, "the region %s has no host for calls: ask the operator of this service", region.Name)
	}
	out := OutboundSetup{
		Host: region.Host, Port: region.Port,
		Instructions: fmt.Sprintf(instructions, region.Host, region.Port, region.RTPLow, region.RTPHigh),
	}
	if r.Inbound != nil {
		out.Username = r.Inbound.Options.Register.Username
	}
	return out, nil
}
