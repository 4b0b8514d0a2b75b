"""Mounts a FUSE file system at a directory and answers none of its requests until standard input ends."""

import ctypes
import os
import sys

fd = os.open("/dev/fuse", os.O_RDWR)
libc = ctypes.CDLL(None, use_errno=True)
options = f"fd={fd},rootmode=40000,user_id=0,group_id=0".encode()
if libc.mount(b"dead", sys.argv[1].encode(), b"fuse", 0, options) != 0:
    raise OSError(ctypes.get_errno(), "mount")
print("mounted", flush=True)
sys.stdin.read()
