// Package espeak synthesizes speech with eSpeak NG, a small synthesizer for about a hundred languages that runs as a program on this
// machine (Debian: apt-get install espeak-ng). Its voices sound more artificial than those of flite, which speaks only English.
package espeak

import (
	"bytes"
	"context"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/callwright/callwright/speech/tts"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/internal/engine"
	"github.com/callwright/callwright/speech/pcm"
)

const (
	install      = "apt-get install espeak-ng (Debian, Ubuntu), brew install espeak-ng (macOS)"
	defaultVoice = "en-us"
	listTimeout  = 10 * time.Second
	maxSamples   = 32 << 20 // limit of the program's output in samples: 25 minutes at 22.05 kHz
)

// Config configures a Synthesizer. The zero Config is valid.
type Config struct {
	Path     string // path of the program; if empty, espeak-ng or espeak on the PATH
	Voice    string // name of the default voice; if empty, en-us
	Parallel int    // maximum of concurrent processes; 0 means twice the number of processors
}

// Synthesizer synthesizes speech with eSpeak NG; it implements tts.Engine. Its voices are named after their languages, such as "en-us" or
// "pt-br".
type Synthesizer struct {
	program *engine.Program
	voice   string
	voices  []string
	titles  map[string]string // human-readable names by voice
	version string
}

var _ tts.Engine = (*Synthesizer)(nil)

// New finds the program and reads the list of its voices. It returns CodeUnavailable if the program is absent (with the package to install)
// or does not list its voices, and CodeBadRequest if the configured voice is not in the list.
func New(config Config) (*Synthesizer, error) {
	program, err := engine.Find(config.Path, []string{"espeak-ng", "espeak"}, install, config.Parallel)
	if err != nil {
		return nil, err
	}
	s := &Synthesizer{program: program, voice: strings.ToLower(config.Voice)}
	if s.voice == "" {
		s.voice = defaultVoice
	}
	if s.titles, err = listVoices(program); err != nil {
		return nil, err
	}
	s.voices, s.version = slices.Sorted(maps.Keys(s.titles)), version(program)
	if !slices.Contains(s.voices, s.voice) {
		return nil, callwright.Invalid("voice", "must be a code that `espeak-ng --voices` lists in its column Language, such as en-us, not %q", s.voice)
	}
	return s, nil
}

// listVoices returns the titles of the voices, by name. It parses the table that eSpeak prints: the first line is a heading, the second
// column contains the language, and the fourth the title. It omits voices that need the data of another synthesizer (MBROLA), whose file is
// in "mb/".
func listVoices(program *engine.Program) (map[string]string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), listTimeout)
	defer cancel()
	printed, err := program.Run(ctx, "", "--voices")
	if err != nil {
		return nil, callwright.Errorf(callwright.CodeUnavailable, "eSpeak cannot list its voices: %w", err)
	}
	titles := map[string]string{}
	for i, line := range strings.Split(string(printed), "\n") {
		fields := strings.Fields(line)
		if i > 0 && len(fields) >= 5 && !strings.HasPrefix(fields[4], "mb/") {
			titles[strings.ToLower(fields[1])] = strings.ReplaceAll(fields[3], "_", " ")
		}
	}
	return titles, nil
}

// version returns the version that eSpeak prints, such as "1.51", or an empty string if it prints none.
func version(program *engine.Program) string {
	ctx, cancel := context.WithTimeout(context.Background(), listTimeout)
	defer cancel()
	printed, _ := program.Run(ctx, "", "--version") // after an error the version stays unknown
	_, after, _ := strings.Cut(string(printed), ": ")
	name, _, _ := strings.Cut(after, " ")
	return name
}

// Describe returns a description of the synthesizer, with its voices sorted by name.
func (s *Synthesizer) Describe() tts.Description {
	d := tts.Description{Name: "espeak", Version: s.version, Default: s.voice, Pitch: true, Tempo: true}
	for _, name := range s.voices {
		d.Voices = append(d.Voices, tts.Voice{Name: name, Description: s.titles[name], Language: name})
	}
	return d
}

// Synthesize speaks with the requested voice, or a voice of the requested language, or the default voice. It returns CodeBadRequest for an
// invalid request, or an unknown voice or language.
func (s *Synthesizer) Synthesize(ctx context.Context, speech tts.Request) (tts.Stream, error) {
	if err := speech.Check(); err != nil {
		return nil, err
	}
	voice, err := s.choose(speech.Voice, speech.Language)
	if err != nil {
		return nil, err
	}
	return engine.Speak(ctx, speech.Rate, func(ctx context.Context) (engine.Speech, error) {
		if engine.Silent(speech.Text) {
			return engine.Speech{Audio: pcm.Audio{Rate: speech.Rate, Channels: 1}}, nil
		}
		audio, err := s.speak(ctx, voice, speech.Text, speech.Prosody)
		return engine.Speech{Audio: audio}, err
	}), nil
}

// CheckVoice returns CodeBadRequest if eSpeak does not support the voice or, if voice is empty, the language.
func (s *Synthesizer) CheckVoice(voice, language string) error {
	_, err := s.choose(voice, language)
	return err
}

// choose returns the voice for a request. If no voice matches a regional language exactly, such as "pt-PT", choose uses a voice of the
// language, such as "pt".
func (s *Synthesizer) choose(wanted, spoken string) (string, error) {
	voice, language := strings.ToLower(wanted), strings.ToLower(spoken)
	broad, _, _ := strings.Cut(language, "-")
	switch {
	case voice != "" && slices.Contains(s.voices, voice):
		return voice, nil
	case voice != "":
		return "", callwright.Invalid("voice", "must be a code that `espeak-ng --voices` lists in its column Language, such as en-us, not %q", wanted)
	case language == "":
		return s.voice, nil
	case slices.Contains(s.voices, language):
		return language, nil
	case slices.Contains(s.voices, broad):
		return broad, nil
	}
	// Some languages, such as English, exist only with a region.
	for _, name := range append([]string{s.voice}, s.voices...) {
		if strings.HasPrefix(name, broad+"-") {
			return name, nil
		}
	}
	return "", callwright.Invalid("language", "must be a language tag, such as pt or pt-BR, whose language `espeak-ng --voices` lists, not %q", spoken)
}

// speak runs eSpeak and returns its audio. It passes the text in a file, because every user of the machine could read an argument in the
// list of processes.
func (s *Synthesizer) speak(ctx context.Context, voice, text string, prosody tts.Prosody) (audio pcm.Audio, err error) {
	controls, playback := control(prosody)
	err = engine.Scratch("espeak", func(dir string) error {
		in := filepath.Join(dir, "text")
		if err := os.WriteFile(in, []byte(printable(text)), 0o600); err != nil {
			return failed(err)
		}
		printed, err := s.program.Run(ctx, dir, append([]string{"-v", voice, "-b", "1", "-f", in, "--stdout"}, controls...)...)
		if err != nil {
			return err
		}
		if audio, err = pcm.ReadWAV(bytes.NewReader(printed), maxSamples); err != nil {
			return failed(err)
		}
		audio.Rate = int(math.Round(float64(audio.Rate)*playback/rateStep)) * rateStep
		return nil
	})
	return audio, err
}

// printable replaces control characters, some of which are commands to eSpeak, with spaces. It also separates double brackets, because
// eSpeak reads text within them as phonemes.
func printable(text string) string {
	text = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7F {
			return ' '
		}
		return r
	}, text)
	for strings.Contains(text, "[[") {
		text = strings.ReplaceAll(text, "[[", "[ [")
	}
	return text
}

func failed(cause error) error {
	return (&callwright.Error{Code: callwright.CodeUnavailable, Message: "eSpeak produced no audio"}).Because(cause)
}
