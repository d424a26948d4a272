package pgtest

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
)

// onDisk and inMemory are how the path of a server's folder starts. They are short because the path of a socket has room for 107 bytes.
const (
	onDisk   = "/tmp/recrawld-pg-"
	inMemory = "/dev/shm/recrawld-pg-"
)

// memoryRoom is how many bytes must be free where files are kept in memory: in a container there are often 64 MB. Tests take some 200 MB at
// a time, a server's log of changes up to 1 GB.
const memoryRoom = 2 << 30

// server is a private PostgreSQL on a socket in a folder of its own.
type server struct {
	mu      sync.Mutex
	started bool // guarded by mu, as are all fields below
	err     error
	dir     string
	quit    chan syscall.Signal // how the server is to end

	settings []string      // in place of those for tests; not changed after the start
	durable  bool          // keeps its files on a disk, though nothing is to survive the server; not changed after the start
	gone     chan struct{} // closed once the server has exited
}

// start brings the server up on the first call; later calls return what the first one found.
func (s *server) start() (dsn string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.started {
		s.started = true
		s.err = s.boot()
	}
	return "postgres://recrawld@/postgres?sslmode=disable&host=" + s.dir, s.err
}

// stop ends the server and removes its folder.
func (s *server) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.end(syscall.SIGQUIT)
	if s.dir != "" {
		_ = os.RemoveAll(s.dir)
	}
}

// end ends the server by a signal, if it runs. The caller holds mu.
func (s *server) end(by syscall.Signal) {
	if s.quit != nil {
		s.quit <- by
		<-s.gone
		s.quit = nil
	}
}

// boot starts the server on a copy of what initdb makes, or, where it is for measuring, on that itself.
func (s *server) boot() error {
	if s.durable {
		return s.bootFrom(s.initdb)
	}
	data, err := pristine.made()
	if err != nil {
		return err
	}
	return s.bootFrom(func(string) []string { return []string{"cp", "-a", data, filepath.Join(s.dir, "data")} })
}

// made has initdb fill the folder of a server that is never started, on the first call, and returns what it filled.
func (s *server) made() (data string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.started {
		s.started = true
		s.err = s.fill(s.initdb)
	}
	return filepath.Join(s.dir, "data"), s.err
}

func (s *server) initdb(bin string) []string {
	return []string{filepath.Join(bin, "initdb"), "-D", filepath.Join(s.dir, "data"), "-U", "recrawld",
		"-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"}
}

// bootFrom makes a folder, has a command fill it, which may be one of those beside the server's program, and starts the server.
func (s *server) bootFrom(command func(bin string) []string) error {
	if err := s.fill(command); err != nil {
		return err
	}
	bin, err := binaries()
	if err != nil {
		return err
	}
	who, err := owner()
	if err != nil {
		return err
	}
	return s.launch(bin, who)
}

func (s *server) fill(command func(bin string) []string) error {
	bin, err := binaries()
	if err != nil {
		return err
	}
	sweep()
	if s.dir, err = os.MkdirTemp(filepath.Split(s.place())); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(s.dir, "owner"), []byte(strconv.Itoa(os.Getpid())), 0o600); err != nil {
		return err
	}
	who, err := owner()
	if err != nil {
		return err
	}
	if who != nil {
		if err := os.Chown(s.dir, int(who.Uid), int(who.Gid)); err != nil {
			return err
		}
	}
	words := command(bin)
	fill := exec.Command(words[0], words[1:]...)
	fill.SysProcAttr = &syscall.SysProcAttr{Credential: who}
	fill.Dir = s.dir
	if out, err := fill.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", filepath.Base(words[0]), err, bytes.TrimSpace(out))
	}
	return nil
}

// place is how the path of the server's folder is to start. A database is some 300 files: to make and remove them takes a tenth of the time
// in memory.
func (s *server) place() string {
	var free syscall.Statfs_t
	if s.durable || syscall.Statfs(filepath.Dir(inMemory), &free) != nil || int64(free.Bavail)*free.Bsize < memoryRoom {
		return onDisk
	}
	return inMemory
}

// quick tells of a server that was started whether its files are in memory.
func (s *server) quick() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.HasPrefix(s.dir, inMemory)
}

// launch starts the server and returns once it answers. The server is started from a thread that lives as long as it
// shall: the kernel signals the server when that thread ends, however this process dies.
func (s *server) launch(bin string, who *syscall.Credential) error {
	args := []string{"-D", filepath.Join(s.dir, "data"), "-k", s.dir,
		"-c", "listen_addresses=", "-c", "max_connections=200", "-c", "lc_messages=C", "-c", "log_min_messages=log"}
	settings := s.settings
	if settings == nil {
		settings = []string{"fsync=off", "shared_buffers=128MB"}
	}
	for _, setting := range settings {
		args = append(args, "-c", setting)
	}
	cmd := exec.Command(filepath.Join(bin, "postgres"), args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: who, Pdeathsig: syscall.SIGQUIT}
	cmd.Dir = s.dir
	log, err := cmd.StderrPipe()
	if err != nil {
		return err
	}
	started := make(chan error)
	s.quit, s.gone = make(chan syscall.Signal), make(chan struct{})
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		defer close(s.gone)
		err := cmd.Start()
		started <- err
		if err != nil {
			return
		}
		_ = cmd.Process.Signal(<-s.quit)
		_ = cmd.Wait()
	}()
	if err := <-started; err != nil {
		return err
	}
	return awaitReady(log)
}

// awaitReady reads the server's log until it says that it is ready, and goes on reading it away until the server ends.
func awaitReady(log io.Reader) error {
	var said []string
	lines := bufio.NewScanner(log)
	for lines.Scan() {
		said = append(said, lines.Text())
		if strings.Contains(lines.Text(), "database system is ready to accept ") { // "connections", a standby "read-only connections"
			go func() { _, _ = io.Copy(io.Discard, log) }() // ends with the server, which ends with this process
			return nil
		}
	}
	return fmt.Errorf("postgres ended: %s", strings.Join(said, "\n"))
}

// sweep removes the folders that processes left behind that were killed. Their servers ended with them.
func sweep() {
	var owners []string
	for _, folder := range []string{onDisk, inMemory} {
		found, err := filepath.Glob(folder + "*/owner")
		if err != nil {
			return
		}
		owners = append(owners, found...)
	}
	for _, path := range owners {
		text, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		pid, err := strconv.Atoi(string(text))
		if err == nil && errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
			_ = os.RemoveAll(filepath.Dir(path))
		}
	}
}

// binaries is the folder of the newest PostgreSQL programs on the machine.
func binaries() (string, error) {
	if path, err := exec.LookPath("initdb"); err == nil {
		if path, err = filepath.EvalSymlinks(path); err == nil {
			return filepath.Dir(path), nil
		}
	}
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if err != nil || len(found) == 0 {
		return "", errors.New("no initdb in PATH or /usr/lib/postgresql")
	}
	best, bestMajor := "", 0
	for _, path := range found {
		bin := filepath.Dir(path)
		major, _ := strconv.Atoi(filepath.Base(filepath.Dir(bin)))
		if major > bestMajor {
			best, bestMajor = bin, major
		}
	}
	if best == "" {
		return "", errors.New("no versioned PostgreSQL under /usr/lib/postgresql")
	}
	return best, nil
}

// owner is whom to run the server as: PostgreSQL refuses to run as root. Nil is ourselves.
func owner() (*syscall.Credential, error) {
	if os.Getuid() != 0 {
		return nil, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err := strconv.ParseUint(u.Uid, 10, 32)
		if err != nil {
			continue
		}
		gid, err := strconv.ParseUint(u.Gid, 10, 32)
		if err != nil {
			continue
		}
		return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
	}
	return nil, errors.New("running as root, and neither the user postgres nor nobody exists")
}
