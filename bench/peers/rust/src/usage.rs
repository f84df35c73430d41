// CPU time and memory of this process, as the subjects in Node measure theirs.

fn cpu_us(who: libc::c_int) -> f64 {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    let usage = unsafe {
        libc::getrusage(who, usage.as_mut_ptr());
        usage.assume_init()
    };
    let us = |time: libc::timeval| time.tv_sec as f64 * 1e6 + time.tv_usec as f64;
    us(usage.ru_utime) + us(usage.ru_stime)
}

/// Of all threads.
pub fn process_us() -> f64 {
    cpu_us(libc::RUSAGE_SELF)
}

/// Of the calling thread.
pub fn thread_us() -> f64 {
    let mut time = std::mem::MaybeUninit::<libc::timespec>::zeroed();
    let time = unsafe {
        libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, time.as_mut_ptr());
        time.assume_init()
    };
    time.tv_sec as f64 * 1e6 + time.tv_nsec as f64 / 1e3
}

pub fn rss_mb() -> f64 {
    let pages = std::fs::read_to_string("/proc/self/statm")
        .ok()
        .and_then(|text| text.split_whitespace().nth(1)?.parse::<f64>().ok())
        .unwrap_or(0.0);
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as f64;
    pages * page / 1e6
}
