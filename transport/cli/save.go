package cli

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/callwright/callwright"
)

// stdoutName is the value of -o that means the standard output.
const stdoutName = "-"

// checkOutput checks that a command can write audio to a file or, for stdoutName, to the standard output. It accepts an empty name.
func (c Config) checkOutput(cmd *cobra.Command, name string) error {
	switch {
	case name == "":
		return nil
	case name != stdoutName:
		if _, err := modeOf(name); err != nil {
			return usage(fmt.Errorf("-o %w", err))
		}
		return checkFolder(name)
	case asJSON(cmd):
		return usage(errors.New("--json and -o - both write to the standard output: name a file with -o"))
	case c.isTerminal(cmd.OutOrStdout()):
		return usage(errors.New("the audio is not written to a terminal: name a file with -o, or send it through a pipe"))
	}
	return nil
}

// checkFolder checks that a file can be created, before its content is produced at some cost.
func checkFolder(name string) error {
	f, err := makePart(name, newFile)
	if err != nil {
		return cannotWrite(name, err)
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// makePart creates a temporary file in the same folder as the named file. Its owner may read and write it as mode permits, for example the
// mode of an existing file; if mode permits neither, the file has the mode newFile.
func makePart(name string, mode fs.FileMode) (*os.File, error) {
	part := filepath.Join(filepath.Dir(name), "."+filepath.Base(name)+"."+rand.Text()[:8]+".part")
	return os.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_EXCL, cmp.Or(mode&0o600, newFile))
}

// replace writes a file completely or not at all: see writeFile.
func replace(name string, text []byte) error {
	return writeFile(name, func(to io.Writer) error {
		_, err := to.Write(text)
		return err
	})
}

// newFile is the mode of files that the commands create: others may read them, if the umask permits it.
const newFile fs.FileMode = 0o644

// modeOf returns the mode of an existing file, or 0 if the file cannot be found. It returns an error for a link, whose target another user
// may have chosen, and for anything but a regular file.
func modeOf(name string) (fs.FileMode, error) {
	info, err := os.Lstat(name)
	switch {
	case err != nil:
		return 0, nil //nolint:nilerr // making it says why it cannot be made
	case info.Mode().Type() == fs.ModeSymlink:
		return 0, fmt.Errorf("%s is a link: name the file itself, or - for the standard output", name)
	case !info.Mode().IsRegular():
		return 0, fmt.Errorf("%s is not a regular file: name a file, or - for the standard output", name)
	}
	return info.Mode().Perm(), nil
}

// writeFile writes a file completely or not at all, even if the command is interrupted: it writes a temporary file in the same folder, and
// renames it. An existing file keeps its mode.
func writeFile(name string, write func(io.Writer) error) error {
	mode, err := modeOf(name)
	if err != nil {
		return usage(err)
	}
	f, err := makePart(name, mode)
	if err != nil {
		return cannotWrite(name, err)
	}
	if mode != 0 {
		err = f.Chmod(mode)
	}
	if err == nil {
		err = write(f)
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		return errors.Join(cannotWrite(name, err), os.Remove(f.Name()))
	}
	return nil
}

// cannotWrite converts a *fs.PathError or an *os.LinkError to an error that names only the given file, not the temporary file. It returns
// other errors unchanged.
func cannotWrite(name string, err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return refused(callwright.Errorf(callwright.CodeUnavailable, "cannot write %s: %w", name, e.Err))
	}
	if e, ok := errors.AsType[*os.LinkError](err); ok {
		return refused(callwright.Errorf(callwright.CodeUnavailable, "cannot write %s: %w", name, e.Err))
	}
	return err
}

// players lists programs that play a WAV file, with the arguments that precede the file's name.
var players = [][]string{
	{"aplay", "-q"}, {"paplay"}, {"afplay"}, {"ffplay", "-nodisp", "-autoexit", "-loglevel", "error"}, {"play", "-q"},
}

// findPlayer returns the first of players that PATH contains, by its absolute path, with its arguments. It returns a usage error if PATH
// contains none.
func findPlayer(env func(string) string) ([]string, error) {
	for _, player := range players {
		for _, folder := range filepath.SplitList(env("PATH")) {
			if path, err := exec.LookPath(filepath.Join(folder, player[0])); err == nil && filepath.IsAbs(path) {
				return append([]string{path}, player[1:]...), nil
			}
		}
	}
	return nil, usage(errors.New("--play finds no player: install aplay, paplay, afplay, ffplay or sox, or write a file with -o"))
}

// endOfPlayer is the time that an interrupted player has to exit before it is killed.
const endOfPlayer = 2 * time.Second

// play plays a file. If ctx ends before the player exits, play interrupts the player and returns the error of ctx.
func play(ctx context.Context, player []string, file string) error {
	cmd := exec.CommandContext(ctx, player[0], append(player[1:], file)...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = endOfPlayer
	said, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return refused(callwright.Errorf(callwright.CodeUnavailable, "%s cannot play the audio: %w: %s", filepath.Base(player[0]), err,
			callwright.Clip(string(said), 500)))
	}
	return nil
}
