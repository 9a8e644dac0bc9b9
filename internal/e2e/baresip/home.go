package baresip

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/testca"
	"github.com/callwright/callwright/speech/pcm"
)

// Rate is the sample rate of the audio that Heard returns, in hertz.
const Rate = 8000

// sourceRate returns the sample rate of the files that a phone plays, in hertz. For G.722 it is the codec's own rate, because baresip's
// resampling removes almost everything except bass.
func (c Config) sourceRate() int {
	if c.Codec == "G722" {
		return 16000
	}
	return 8000
}

// moduleFolders lists the folders where packages install baresip's modules.
var moduleFolders = []string{"/usr/lib/baresip/modules", "/usr/local/lib/baresip/modules", "/opt/homebrew/lib/baresip/modules"}

// silentFile is the file that a phone plays until Say selects another file.
const silentFile = "silence.wav"

// silentSeconds is the silence after the audio in a file. It is longer than any test, because baresip stops sending at the end of a file.
const silentSeconds = 150

// config configures a phone without sound hardware. The aufile module requires mono files of exactly the given rate. The SIP port serves
// UDP and plain TCP, which tests do not use. TLS uses the next port. net_interface keeps other addresses of the machine out of the SDP.
const config = `sip_listen          127.0.0.1:%d
sip_certificate     %s
sip_cafile          %s
net_interface       127.0.0.1
call_local_timeout  120
call_max_calls      4
audio_path          /nonexistent
audio_player        aubridge,sink
audio_source        aufile,%s
audio_alert         aubridge,alert
ausrc_srate         %d
auplay_srate        %d
ausrc_channels      1
auplay_channels     1
ausrc_format        s16
auplay_format       s16
auenc_format        s16
audec_format        s16
audio_buffer        20-160
rtp_ports           12000-13999
rtp_stats           yes
jitter_buffer_type  fixed
jitter_buffer_delay 1-5
module_path         %s
module              g711.so
module              g722.so
module              opus.so
module              aufile.so
module              aubridge.so
module              sndfile.so
module              srtp.so
module_tmp          uuid.so
module_tmp          account.so
module_app          menu.so
module_app          ctrl_tcp.so
module_app          debug_cmd.so
ctrl_tcp_listen     %s
snd_path            %s
ringback_disabled   yes
menu_bell           no
statmode_default    off
`

// writeHome writes the configuration files and the silent file of a phone.
func writeHome(t testing.TB, home string, c Config, ports ports) {
	t.Helper()
	write := func(name, content string) string {
		path := filepath.Join(home, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	certificate := write("phone.pem", issue(t, c))
	silence := filepath.Join(home, silentFile)
	rate := c.sourceRate()
	writeWAV(t, silence, rate, make([]int16, silentSeconds*rate))
	write("config", fmt.Sprintf(config, ports.sip, certificate, c.CA.CertFile(), silence, rate, rate,
		modules(t), ports.control(), home))
	accounts := account(c, ports)
	if c.Also != "" {
		c.User = c.Also
		accounts += account(c, ports)
	}
	write("accounts", accounts)
	write("contacts", "")
	write("uuid", new(callwright.UUIDs).New())
}

// account returns the configuration of an account that does not register.
func account(c Config, ports ports) string {
	answer, codec, encryption := "auto", c.Codec, ";mediaenc=srtp-mand"
	if c.Manual {
		answer = "manual"
	}
	if codec == "" {
		codec = "PCMU"
	}
	codec += map[string]string{"G722": "/16000/1", "opus": "/48000/2"}[codec]
	if !strings.Contains(codec, "/") {
		codec += "/8000/1"
	}
	if c.Plain {
		encryption = ""
	}
	return fmt.Sprintf("<sip:%s@%s;transport=tls>;regint=0;answermode=%s%s;audio_codecs=%s;ptime=20;dtmfmode=rtpevent\n",
		c.User, ports.tls(), answer, encryption, codec)
}

// issue returns the phone's certificate and key in one PEM text, as baresip requires.
func issue(t testing.TB, c Config) string {
	t.Helper()
	hosts := c.Hosts
	if len(hosts) == 0 {
		hosts = []string{"127.0.0.1"}
	}
	certificate, err := c.CA.Issue(hosts...)
	if err != nil {
		t.Fatal(err)
	}
	chain, key, err := testca.PEM(certificate)
	if err != nil {
		t.Fatal(err)
	}
	return string(chain) + string(key)
}

func modules(t testing.TB) string {
	t.Helper()
	for _, folder := range moduleFolders {
		if _, err := os.Stat(filepath.Join(folder, "g711.so")); err == nil {
			return folder
		}
	}
	t.Fatalf("baresip's modules are in none of %v: apt-get install baresip-core", moduleFolders)
	return ""
}

// writeWAV writes a mono WAV file.
func writeWAV(t testing.TB, path string, rate int, samples []int16) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := pcm.WriteWAV(f, pcm.Audio{Rate: rate, Channels: 1, Samples: samples}); err != nil {
		t.Fatal(err)
	}
}
