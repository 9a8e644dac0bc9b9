package e2e_test

import (
	"strings"
	"testing"

	"github.com/callwright/callwright/internal/await"
	"github.com/callwright/callwright/internal/e2e/baresip"
	"github.com/callwright/callwright/internal/e2e/kamailio"
	"github.com/callwright/callwright/transport/oas/sipoas"
)

// TestRegistersWithKamailio registers a number with Kamailio, which then calls the server over the connection of the registration. The
// registration must be refreshed, and must be withdrawn when the number is detached.
func TestRegistersWithKamailio(t *testing.T) {
	t.Parallel()
	for _, algorithm := range []string{"", "SHA-256"} {
		t.Run("digest "+algorithm, func(t *testing.T) {
			t.Parallel()
			ca := authority(t)
			s := start(t, ca.CertFile())
			// No registrar runs yet. The answer contains the password that Kamailio needs.
			password := s.AttachRegistered(t, ours.String(), "sip:127.0.0.1:9;transport=tls", "acme")
			registrar := kamailio.Start(t, kamailio.Config{CA: ca, Password: password, Algorithm: algorithm, MaxExpires: 10})
			s.Update(t, ours.String(), sipoas.SipDirectionInput{
				Type: sipoas.SipDirectionInbound, SipEndpoint: sipoas.NewOptString(registrar.URI()),
			})
			s.StatusUntil(t, ours.String(), "to say that the number is registered", func(st sipoas.SipStatus) bool {
				return st.Registration.Value.Status == sipoas.SipRegistrationStatusRegistered
			})

			phone := baresip.Start(t, baresip.Config{CA: ca, User: theirs.String()})
			phone.Dial(t, registrar.Number("acme"))
			phone.Await(t, "CALL_ESTABLISHED", 1)
			phone.Hangup(t)
			await.That(t, "the call in the log", func() bool {
				calls := s.CallLog(t, ours.String())
				return len(calls) == 1 && calls[0].Direction == sipoas.SipDirectionInbound && calls[0].SipCode.Value == 200 &&
					!calls[0].EndedAt.Null
			})

			await.That(t, "the registration to be refreshed", func() bool { return registrar.Count("SAVED") >= 2 })
			s.Detach(t, ours.String(), sipoas.SipDirectionInbound)
			await.That(t, "the registration to be taken back", func() bool {
				return strings.Contains(registrar.Log(), "expires=0")
			})
		})
	}
}

// TestRegistrarCallsTheContact registers with a Kamailio without support for flows (RFC 5626). Kamailio must be able to call the Contact
// over a separate connection, which no other caller may use.
func TestRegistrarCallsTheContact(t *testing.T) {
	t.Parallel()
	ca := authority(t)
	s := start(t, ca.CertFile())
	password := s.AttachRegistered(t, ours.String(), "sip:127.0.0.1:9;transport=tls", "acme")
	registrar := kamailio.Start(t, kamailio.Config{CA: ca, Password: password, CallsContacts: true})
	s.Update(t, ours.String(), sipoas.SipDirectionInput{
		Type: sipoas.SipDirectionInbound, SipEndpoint: sipoas.NewOptString(registrar.URI()),
	})
	s.StatusUntil(t, ours.String(), "to say that the number is registered", func(st sipoas.SipStatus) bool {
		return st.Registration.Value.Status == sipoas.SipRegistrationStatusRegistered
	})
	phone := baresip.Start(t, baresip.Config{CA: ca, User: theirs.String()})
	phone.Dial(t, registrar.Number("acme"))
	phone.Await(t, "CALL_ESTABLISHED", 1)
	phone.Hangup(t)
	await.That(t, "the call in the log", func() bool {
		calls := s.CallLog(t, ours.String())
		return len(calls) == 1 && calls[0].To == ours.String() && calls[0].SipCode.Value == 200 && !calls[0].EndedAt.Null
	})
	stranger := baresip.Start(t, baresip.Config{CA: ca, User: theirs.String()})
	stranger.Dial(t, s.Number(ours.String()))
	stranger.Await(t, "CALL_CLOSED", 1)
}

// TestRegistrarRefuses checks the status of a registration with a wrong password.
func TestRegistrarRefuses(t *testing.T) {
	t.Parallel()
	ca := authority(t)
	s := start(t, ca.CertFile())
	registrar := kamailio.Start(t, kamailio.Config{CA: ca, Password: "another"})
	s.AttachRegistered(t, ours.String(), registrar.URI(), "acme")
	st := s.StatusUntil(t, ours.String(), "to say that the registration is refused", func(st sipoas.SipStatus) bool {
		return st.Registration.Value.Status == sipoas.SipRegistrationStatusRefused
	})
	if st.Status != sipoas.SipHealthStatusUnchecked || st.Registration.Value.Detail.Value == "" {
		t.Errorf("the status is %+v", st)
	}
}

// TestWatchesKamailio probes and discovers a Kamailio that answers OPTIONS only without a user in the URI.
func TestWatchesKamailio(t *testing.T) {
	t.Parallel()
	ca := authority(t)
	s := start(t, ca.CertFile())
	peer := kamailio.Start(t, kamailio.Config{CA: ca, Password: "another"})
	d := s.Discover(t, sipoas.SipDiscoveryStart{Host: "127.0.0.1", Port: sipoas.NewOptInt(int(peer.Addr().Port()))})
	if r := d.Recommended.Value; r.Port != int(peer.Addr().Port()) || !strings.EqualFold(r.DetectedSystem.Value, "kamailio") {
		t.Errorf("discovered %+v", d)
	}
	s.AttachOutbound(t, ours.String(), peer.URI())
	s.StatusUntil(t, ours.String(), "to be healthy", func(st sipoas.SipStatus) bool {
		return st.Status == sipoas.SipHealthStatusHealthy && !st.ResponseTimeMs.Null
	})
	await.That(t, "the question without a user", func() bool { return peer.Count("REQUEST OPTIONS sip:127.0.0.1") > 0 })
}
