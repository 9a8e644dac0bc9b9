package e2e_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/callwright/callwright/internal/e2e/baresip"
	"github.com/callwright/callwright/internal/e2e/server"
	"github.com/callwright/callwright/speech/pcm"
	"github.com/callwright/callwright/transport/oas/callsoas"
)

// These constants are the texts that the command line speaks. They differ enough for the recognizer.
const (
	reminder = "Your appointment is on Tuesday at nine."
	delayed  = "The train to the harbour is ten minutes late."
	weather  = "It will rain in the afternoon, so take an umbrella."
)

// toolkit is the command line with the settings for a server. Its commands run in folder.
type toolkit struct {
	t      *testing.T
	env    []string
	folder string
}

func newToolkit(t *testing.T, s *server.Server) toolkit {
	t.Helper()
	return toolkit{t, []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "SERVICE_BASE_URL=" + s.URL, "SERVICE_API_KEY=" + s.Key,
	}, t.TempDir()}
}

// command returns an unstarted process of the command line.
func (k toolkit) command(args ...string) *exec.Cmd {
	k.t.Helper()
	cmd := exec.CommandContext(k.t.Context(), server.Command(k.t), args...)
	cmd.Dir, cmd.Env = k.folder, k.env
	return cmd
}

// run runs a command with the given standard input and returns its output. It fails the test if the command fails.
func (k toolkit) run(input string, args ...string) []byte {
	k.t.Helper()
	cmd := k.command(args...)
	var said bytes.Buffer
	cmd.Stdin, cmd.Stderr = strings.NewReader(input), &said
	out, err := cmd.Output()
	if err != nil {
		k.t.Fatalf("callwright %s: %v: %s%s", strings.Join(args, " "), err, out, said.String())
	}
	return out
}

// ask runs a command with --json and decodes its output.
func (k toolkit) ask(into any, args ...string) {
	k.t.Helper()
	out := k.run("", append(args, "--json")...)
	if err := json.Unmarshal(out, into); err != nil {
		k.t.Fatalf("callwright %s prints %s: %v", strings.Join(args, " "), out, err)
	}
}

// hears checks that the recognizer recognizes the wanted text in a WAV file, and returns its audio.
func (k toolkit) hears(what string, file []byte, want string) pcm.Audio {
	k.t.Helper()
	audio, err := pcm.ReadWAV(bytes.NewReader(file), 1<<24)
	if err != nil {
		k.t.Fatalf("%s: %v", what, err)
	}
	if got := recognize(k.t, audio, reminder, delayed, weather, greeting); got != want {
		k.t.Errorf("%s: the recognizer hears %q, want %q", what, got, want)
	}
	return audio
}

// file returns the content of a file that a command has written.
func (k toolkit) file(name string) []byte {
	k.t.Helper()
	raw, err := os.ReadFile(filepath.Join(k.folder, name))
	if err != nil {
		k.t.Fatal(err)
	}
	return raw
}

// spoken is the JSON output of "callwright speak", and the answer of the tool for speech.
type spoken struct {
	URL       string  `json:"url"`
	SampleID  string  `json:"sample_id"`
	VoiceUsed *string `json:"voice_used"`
}

// TestToolkit checks the speech commands of the command line and the tool server, and the audio that they produce.
func TestToolkit(t *testing.T) {
	t.Parallel()
	s := start(t, authority(t).CertFile())
	k := newToolkit(t, s)

	var said spoken
	k.ask(&said, "speak", reminder, "--voice", "slt", "-o", "reminder.wav")
	if said.VoiceUsed == nil || *said.VoiceUsed != "slt" || said.SampleID == "" {
		t.Errorf("speak prints %+v", said)
	}
	k.hears("speak -o", k.file("reminder.wav"), reminder)
	k.hears("speak from a pipe to a pipe", k.run(delayed, "speak", "--voice", "rms", "--format", "ulaw_8000", "-o", "-"), delayed)
	k.ask(&said, "speak", weather)
	if said.VoiceUsed == nil || !slices.Contains([]string{"slt", "rms", "awb"}, *said.VoiceUsed) {
		t.Errorf("the voice that was drawn is %v", said.VoiceUsed)
	}

	k.run("", "speak", strings.Join([]string{reminder, delayed, weather}, " "), "--voice", "rms", "-o", "recording.wav")
	k.run("", "clone", "Front desk", "recording.wav")
	k.ask(&said, "speak", delayed, "--voice", "front DESK", "-o", "own.wav")
	k.hears("the profile", k.file("own.wav"), delayed)

	var samples struct {
		Data []struct {
			ID      string `json:"id"`
			VoiceID string `json:"voice_id"`
			Text    string `json:"text"`
		} `json:"data"`
		Total int `json:"total"`
	}
	k.ask(&samples, "samples", "list", "--voice", "Front desk")
	if samples.Total != 1 || samples.Data[0].ID != said.SampleID || samples.Data[0].Text != delayed {
		t.Fatalf("samples list prints %+v", samples)
	}
	own := samples.Data[0].VoiceID
	k.run("", "rename", "front desk", "Reception")
	k.run("", "voice", "reception")
	k.run("", "delete", own, "--yes")
	if err := k.command("voice", "reception").Run(); err == nil {
		t.Error("a deleted voice is found")
	}
	k.run("", "samples", "get", said.SampleID, "-o", "kept.wav")
	k.hears("a sample of a deleted voice", k.file("kept.wav"), delayed)

	k.tools()
}

// tools uses the tool server over its standard input and output.
func (k toolkit) tools() {
	t := k.t
	t.Helper()
	assistant := mcp.NewClient(&mcp.Implementation{Name: "assistant", Version: "1"}, nil)
	session, err := assistant.Connect(t.Context(), &mcp.CommandTransport{Command: k.command("mcp")}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	call := func(name string, arguments map[string]any, into any) {
		t.Helper()
		result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: arguments})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if result.IsError {
			text, err := json.Marshal(result.Content)
			t.Fatalf("%s: %s %v", name, text, err)
		}
		raw, err := json.Marshal(result.StructuredContent)
		if err == nil && into != nil {
			err = json.Unmarshal(raw, into)
		}
		if err != nil {
			t.Fatalf("%s: %s, %v", name, raw, err)
		}
	}
	listed, err := session.ListTools(t.Context(), nil)
	if err != nil || len(listed.Tools) != 7 {
		t.Fatalf("there are %d tools, %v", len(listed.Tools), err)
	}

	var said spoken
	call("tts_speak", map[string]any{"text": weather, "voice": "awb"}, &said)
	if said.VoiceUsed == nil || *said.VoiceUsed != "awb" {
		t.Errorf("tts_speak gives %+v", said)
	}
	k.hears("the link", fetch(t, said.URL), weather)
	var sample struct {
		Sample struct {
			URL  string `json:"url"`
			Text string `json:"text"`
		} `json:"sample"`
	}
	call("tts_sample_get", map[string]any{"sample_id": said.SampleID}, &sample)
	if sample.Sample.Text != weather {
		t.Errorf("tts_sample_get gives %+v", sample)
	}
	k.hears("the link of the sample", fetch(t, sample.Sample.URL), weather)
	var samples struct {
		Total int `json:"total"`
	}
	call("tts_samples_list", map[string]any{"voice_id": "awb"}, &samples)
	if samples.Total < 1 {
		t.Errorf("tts_samples_list gives %+v", samples)
	}
	var voices struct {
		Voices []struct {
			VoiceID string `json:"voice_id"`
			Name    string `json:"name"`
			Kind    string `json:"kind"`
		} `json:"voices"`
	}
	k.run("", "clone", "Night desk", "recording.wav")
	call("tts_voices_list", map[string]any{"custom_only": true}, &voices)
	if len(voices.Voices) != 1 || voices.Voices[0].Name != "Night desk" || voices.Voices[0].Kind != "profile" {
		t.Fatalf("tts_voices_list gives %+v", voices)
	}
	call("tts_voice_rename", map[string]any{"voice_id": "night desk", "name": "Late desk"}, nil)
	call("tts_voice_get", map[string]any{"voice": "late desk"}, nil)
	call("tts_voice_delete", map[string]any{"voice_id": voices.Voices[0].VoiceID}, nil)
	result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "tts_voice_get", Arguments: map[string]any{"voice": "late desk"}})
	if err != nil || !result.IsError {
		t.Errorf("a deleted voice: %+v, %v", result, err)
	}
}

// fetch downloads a link without an API key.
func fetch(t *testing.T, url string) []byte {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(io.LimitReader(answer.Body, 1<<24))
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("%s gives %s, %v: %.200s", url, answer.Status, err, body)
	}
	return body
}

// TestAgentHasAnOwnVoice places a call with a voice that was created from a recording, and checks that the agent speaks with this voice.
// After the voice is deleted, a call with it must be refused.
func TestAgentHasAnOwnVoice(t *testing.T) {
	t.Parallel()
	ca := authority(t)
	phone := baresip.Start(t, baresip.Config{CA: ca, User: theirs.String()})
	s := start(t, ca.CertFile())
	k := newToolkit(t, s)
	s.AttachOutbound(t, ours.String(), phone.Server())
	k.run("", "speak", strings.Join([]string{reminder, delayed, weather}, " "), "--voice", "rms", "-o", "recording.wav")
	k.run("", "clone", "Front desk", "recording.wav")
	k.run("", "speak", greeting, "--voice", "Front desk", "--format", "pcm_16000", "-o", "greeting.wav")
	own := k.hears("the profile", k.file("greeting.wav"), greeting)

	request := appointment()
	request.Voice = callsoas.NewOptString("front desk")
	request.Task = callsoas.NewOptString(`otherwise: say "` + goodbye + `" and end`)
	id := s.Call(t, request)
	says(t, s, id, greeting)
	phone.Say(t, speak(t, callerVoice, errand))
	s.Ended(t, id)
	_, right := s.Recording(t, id)
	profiled, plainly := find(t, own, right), find(t, speak(t, agentVoice, greeting), right)
	t.Logf("distance %.2f to the profile, %.2f to %s", profiled.Distance, plainly.Distance, agentVoice)
	if profiled.Distance >= pcm.SameSpeech || plainly.Distance <= profiled.Distance {
		t.Errorf("the agent does not have the voice: distance %.2f to the profile, %.2f to %s", profiled.Distance, plainly.Distance, agentVoice)
	}

	k.run("", "delete", "Front desk", "--yes")
	refused := k.command("calls", "place", theirs.String(), "--from", ours.String(), "--task", "x", "--voice", "Front desk", "--json")
	if out, err := refused.CombinedOutput(); err == nil || !strings.Contains(string(out), `"voice"`) {
		t.Errorf("a call with a deleted voice: %v: %s", err, out)
	}
}
