package fingerprint_test

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/callwright/callwright/sip/fingerprint"
)

// answer parses lines of the form "Name: value" to headers.
func answer(text string) []fingerprint.Header {
	var headers []fingerprint.Header
	for line := range strings.Lines(strings.TrimSpace(text)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		headers = append(headers, fingerprint.Header{Name: name, Value: strings.TrimSpace(value)})
	}
	return headers
}

func TestIdentify(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, answer    string
		system, version string
		confidence      float64
		evidence        int
	}{
		{"Asterisk with all its signs", `
			Via: SIP/2.0/UDP 192.0.2.1
			WWW-Authenticate: Digest realm="asterisk",nonce="1/abc",algorithm=MD5
			Server: Asterisk PBX 21.4.1
			Allow: OPTIONS, REGISTER, SUBSCRIBE, NOTIFY, PUBLISH, INVITE, ACK, BYE
			Supported: 100rel, timer, replaces, norefersub`, "Asterisk", "21.4.1", 0.9, 4},
		{"Asterisk, certified", "Server: Asterisk PBX certified/18.9-cert4", "Asterisk", "18.9-cert4", 0.9, 1},
		{"Asterisk without a version", "Server: Asterisk", "Asterisk", "", 0.9, 1},
		{"Asterisk by its realm", "Server: our switch\nProxy-Authenticate: Digest nonce=\"x\", realm=\"asterisk\"", "Asterisk", "", 0.7, 1},
		{"Asterisk by Allow", "Allow: OPTIONS, REGISTER, SUBSCRIBE, NOTIFY, PUBLISH, INVITE, ACK", "Asterisk", "", 0.5, 1},
		{"Asterisk of old by Allow", "Allow: INVITE, ACK, CANCEL, OPTIONS, BYE, REFER, SUBSCRIBE, NOTIFY, INFO, PUBLISH\nSupported: replaces, timer", "Asterisk", "", 0.5, 1},
		{"FreePBX stands upon Asterisk", "Server: FPBX-17.0.19.24(21.5.0)\nAllow: OPTIONS, REGISTER, SUBSCRIBE, NOTIFY, PUBLISH, INVITE", "FreePBX", "17.0.19.24", 0.9, 1},
		{"FreeSWITCH", `
			User-Agent: FreeSWITCH-mod_sofia/1.10.9-release~64bit
			Accept: application/sdp
			Allow: INVITE, ACK, BYE, CANCEL, OPTIONS, MESSAGE, INFO, UPDATE, REGISTER, REFER, NOTIFY
			Supported: timer, path, replaces
			Allow-Events: talk, hold, conference, refer`, "FreeSWITCH", "1.10.9-release~64bit", 0.9, 4},
		{"FreeSWITCH under another name", "User-Agent: Our Voice\nSupported: timer,path, replaces", "FreeSWITCH", "", 0.5, 1},
		{"a CUBE", "Server: Cisco-SIPGateway/IOS-17.6.1a\nSupported: 100rel,sdp-anat", "Cisco CUBE", "17.6.1a", 0.9, 2},
		{"a CUBE by Allow", "Allow: INVITE, OPTIONS, BYE, CANCEL, ACK, PRACK, UPDATE, REFER, SUBSCRIBE, NOTIFY, INFO, REGISTER", "Cisco CUBE", "", 0.5, 1},
		{"a CUCM", "Server: Cisco-CUCM14.0", "Cisco CUCM", "14.0", 0.9, 1},
		{"another Cisco", "User-Agent: Cisco/SPA525G", "Cisco", "", 0.4, 1},
		{"Kamailio", "Accept: */*\nAccept-Encoding:\nSupported:\nServer: kamailio (5.8.2 (x86_64/linux))", "Kamailio", "5.8.2", 0.9, 2},
		{"Kamailio without Server", "Accept: */*\nAccept-Encoding:\nAccept-Language: en\nSupported:", "Kamailio", "", 0.5, 1},
		{"somebody else who accepts everything", "Accept: */*\nAllow: INVITE, ACK, BYE", "", "", 0, 0},
		{"OpenSIPS", "Server: OpenSIPS (3.4.5 (x86_64/linux))", "OpenSIPS", "3.4.5", 0.9, 1},
		{"3CX", "User-Agent: 3CXPhoneSystem 18.0.9.20 (20)\nWWW-Authenticate: Digest realm=\"3CXPhoneSystem\"", "3CX", "18.0.9.20", 0.9, 2},
		{"Teams", `
			FROM: <sip:a.test>
			CALL-ID: 1
			CSEQ: 1 OPTIONS
			VIA: SIP/2.0/TLS a.test
			ALLOW: INVITE,ACK,OPTIONS,CANCEL,BYE,NOTIFY
			SERVER: Microsoft.PSTNHub.SIPProxy v.2025.3.2.1 i.EUWE.3`, "Microsoft Teams", "2025.3.2.1", 0.9, 3},
		{"Teams by its capitals", "FROM: x\nCALL-ID: 1\nCSEQ: 1 OPTIONS\nTO: y", "Microsoft Teams", "", 0.3, 1},
		{"baresip", "Server: baresip v3.10.0 (x86_64/Linux)", "baresip", "3.10.0", 0.9, 1},
		{"a maker's name", "Server: Mediant 800/v.7.40A", "AudioCodes", "", 0.4, 1},
		{"a name beats what it is mentioned in", "Server: Asterisk PBX 20.1.0 for Yeastar", "Asterisk", "20.1.0", 0.9, 1},
		{"a bare answer", "Via: SIP/2.0/TLS a.test\nCall-ID: 1\nCSeq: 1 OPTIONS\nContent-Length: 0", "", "", 0, 0},
		{"a word that only contains a name", "Server: notAsterisk, oracles", "", "", 0, 0},
		{"nothing", "", "", "", 0, 0},
	} {
		g := fingerprint.Identify(answer(c.answer))
		if g.System != c.system || g.Version != c.version || g.Confidence != c.confidence || len(g.Evidence) != c.evidence {
			t.Errorf("%s: %+v, want %s %s, %v, %d lines of evidence", c.name, g, c.system, c.version, c.confidence, c.evidence)
		}
		if (g.Note != "") != (c.system == "Microsoft Teams") {
			t.Errorf("%s: the note is %q", c.name, g.Note)
		}
	}
}

func TestEvidenceHoldsNothingOfThePeers(t *testing.T) {
	t.Parallel()
	g := fingerprint.Identify(answer("Server: Asterisk PBX 20.0<script>\nWWW-Authenticate: Digest realm=\"asterisk\", nonce=\"secret\""))
	if g.Version != "20.0" {
		t.Errorf("the version is %q", g.Version)
	}
	if text := strings.Join(g.Evidence, " "); strings.Contains(text, "20.0") || strings.Contains(text, "secret") {
		t.Errorf("evidence %q", text)
	}
}

func TestLongInputIsCut(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", 600) + " Asterisk"
	many := slices.Repeat([]fingerprint.Header{{Name: "X-Y", Value: "z"}}, 64)
	many = append(many, fingerprint.Header{Name: "Server", Value: "Asterisk PBX 1.0"})
	for _, headers := range [][]fingerprint.Header{{{Name: "Server", Value: long + " avaya"}}, many} {
		if g := fingerprint.Identify(headers); g.System != "" {
			t.Errorf("looked at more than it should: %+v", g)
		}
	}
}

func FuzzIdentify(f *testing.F) {
	f.Add("Server", "Asterisk PBX 20.9.3", "Allow", "INVITE,ACK")
	f.Add("SERVER", "Microsoft.PSTNHub.SIPProxy v.1", "ALLOW", "INVITE,ACK,OPTIONS,CANCEL,BYE,NOTIFY")
	f.Add("WWW-Authenticate", `Digest realm="asterisk"`, "Supported", ",, timer ,")
	f.Fuzz(func(t *testing.T, name, value, name2, value2 string) {
		g := fingerprint.Identify([]fingerprint.Header{{Name: name, Value: value}, {Name: name2, Value: value2}})
		known := g.System != ""
		if known != (g.Confidence > 0) || known != (len(g.Evidence) > 0) || g.Confidence > 1 || !known && g.Version != "" {
			t.Errorf("half a guess: %+v", g)
		}
		printable := !strings.ContainsFunc(g.Version, func(r rune) bool { return r <= ' ' || r > '~' })
		if len(g.Version) > 32 || !printable || !utf8.ValidString(strings.Join(g.Evidence, "")) {
			t.Errorf("more of the peer than a version: %+v", g)
		}
	})
}
