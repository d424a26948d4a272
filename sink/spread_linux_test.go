package sink

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// TestSitesLieApartOnExt4 looks at the flag after the first opening and after another one, which leaves it.
func TestSitesLieApartOnExt4(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var system unix.Statfs_t
	if err := unix.Statfs(dir, &system); err != nil || system.Type != unix.EXT4_SUPER_MAGIC {
		t.Skipf("temporary files are on no ext4 (%v)", err)
	}
	for range 2 {
		if err := openMirror(t, dir, newShelf(t)).Close(); err != nil {
			t.Fatal(err)
		}
		f, err := os.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		flags, err := unix.IoctlGetUint32(int(f.Fd()), unix.FS_IOC_GETFLAGS)
		if err != nil || flags&topDirectory == 0 {
			t.Errorf("flags are %#x (%v), want %#x among them", flags, err, topDirectory)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
