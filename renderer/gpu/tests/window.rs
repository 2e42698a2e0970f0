//! A window under a virtual X server: frames, resizing, both present modes.
//!
//! The test starts the server, then itself once more inside it.

use gpu::*;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;
use winit::application::ApplicationHandler;
use winit::dpi::PhysicalSize;
use winit::event::WindowEvent;
use winit::event_loop::{ActiveEventLoop, ControlFlow, EventLoop};
use winit::platform::x11::EventLoopBuilderExtX11;
use winit::raw_window_handle::HasDisplayHandle;
use winit::window::{Window, WindowId};

const INSIDE: &str = "NRVIEW_TEST_IN_WINDOW";
const FRAMES: u32 = 24;

/// The virtual server; stopped at the end.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn frames_reach_a_window_that_is_resized() {
    if std::env::var_os(INSIDE).is_some() {
        run();
        return;
    }
    let mut server = Command::new("Xvfb")
        .args(["-displayfd", "1", "-screen", "0", "1024x768x24", "-nolisten", "tcp"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map(Server)
        .expect("Xvfb is needed for window tests (Debian, Ubuntu: xvfb)");
    let mut number = String::new();
    BufReader::new(server.0.stdout.take().unwrap()).read_line(&mut number).unwrap();
    let status = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "frames_reach_a_window_that_is_resized", "--nocapture"])
        .env("DISPLAY", format!(":{}", number.trim()))
        .env_remove("WAYLAND_DISPLAY")
        .env("WINIT_X11_SCALE_FACTOR", "1")
        .env(INSIDE, "1")
        .status()
        .unwrap();
    assert!(status.success());
}

fn run() {
    let event_loop = EventLoop::builder().with_any_thread(true).build().unwrap();
    event_loop.set_control_flow(ControlFlow::Poll);
    let mut test = Test::default();
    event_loop.run_app(&mut test).unwrap();
    assert_eq!(test.drawn, FRAMES);
    assert!(test.extents.len() >= 2, "the swapchain followed the window: {:?}", test.extents);
    drop(test);
    assert_no_leaks();
    assert_eq!(validation_messages(), 0);
}

#[derive(Default)]
struct Test {
    view: Option<View>,
    drawn: u32,
    extents: Vec<[u32; 2]>,
}

/// Dropped in this order: what is in flight, then the swapchain, then its window.
struct View {
    slots: Vec<(CommandBuffer, Ticket)>,
    swapchain: Option<Swapchain>,
    surface: Arc<Surface>,
    device: Arc<Device>,
    window: Arc<Window>,
}

impl View {
    fn new(window: Window) -> Result<Self> {
        let window = Arc::new(window);
        let display = window.display_handle().unwrap().as_raw();
        let validation = std::env::var("NRVIEW_TEST_VALIDATION").as_deref() != Ok("0");
        let instance = Instance::new(&InstanceDesc { validation, surface: Some(display) })?;
        let desc = DeviceDesc { cache: CacheMode::Off, ..DeviceDesc::default() };
        let device = Device::open_with(&instance, &desc)?;
        let surface = Surface::new(&instance, &window)?;
        let slots = (0..2)
            .map(|i| Ok((CommandBuffer::new(&device, &format!("frame {i}"))?, Ticket::default())))
            .collect::<Result<_>>()?;
        Ok(Self { slots, swapchain: None, surface, device, window })
    }

    fn rebuild(&mut self, vsync: bool) -> Result<[u32; 2]> {
        let size = self.window.inner_size();
        let desc = SwapchainDesc { extent: [size.width, size.height], vsync };
        let old = self.swapchain.take();
        let swapchain = Swapchain::new(&self.device, &self.surface, &desc, old)?;
        assert_eq!(swapchain.format(), vk::Format::B8G8R8A8_UNORM);
        let expected = if vsync { vk::PresentModeKHR::FIFO } else { vk::PresentModeKHR::IMMEDIATE };
        assert_eq!(swapchain.present_mode(), expected);
        let extent = swapchain.extent();
        self.swapchain = Some(swapchain);
        Ok(extent)
    }

    /// Draws one frame; false when the swapchain must be created anew.
    fn draw(&mut self, frame_number: u32) -> Result<bool> {
        let Some(swapchain) = &mut self.swapchain else { return Ok(false) };
        let (cmd, ticket) = &mut self.slots[frame_number as usize % 2];
        self.device.wait(*ticket, Duration::from_secs(10))?;
        let frame = match swapchain.acquire(Duration::from_secs(10))? {
            Acquire::Ready(frame) => frame,
            Acquire::OutOfDate => return Ok(false),
            Acquire::Timeout => panic!("no image within 10 s"),
        };
        cmd.begin()?;
        cmd.label_begin("clear");
        cmd.image_barrier(frame.image, ImageUse::Undefined, ImageUse::TransferDst);
        cmd.clear_image(frame.image, [0.2, 0.4, 0.6, 1.0]);
        cmd.label_end();
        cmd.image_barrier(frame.image, ImageUse::TransferDst, ImageUse::ColorAttachment);
        cmd.begin_rendering(frame.image, LoadOp::Load);
        cmd.end_rendering();
        cmd.image_barrier(frame.image, ImageUse::ColorAttachment, ImageUse::Present);
        cmd.end()?;
        *ticket = self.device.submit(&[&*cmd], &[frame.wait], &[frame.signal])?;
        Ok(swapchain.present(frame, *ticket)? == Present::Done)
    }
}

impl ApplicationHandler for Test {
    fn resumed(&mut self, event_loop: &ActiveEventLoop) {
        let attributes =
            Window::default_attributes().with_title("gpu window test").with_inner_size(PhysicalSize::new(320, 200));
        let mut view = View::new(event_loop.create_window(attributes).unwrap()).unwrap();
        self.extents.push(view.rebuild(true).unwrap());
        self.view = Some(view);
    }

    fn window_event(&mut self, _: &ActiveEventLoop, _: WindowId, event: WindowEvent) {
        let Some(view) = &mut self.view else { return };
        if let WindowEvent::Resized(_) = event {
            let extent = view.rebuild(self.drawn < FRAMES / 2).unwrap();
            if self.extents.last() != Some(&extent) {
                self.extents.push(extent);
            }
        }
    }

    fn about_to_wait(&mut self, event_loop: &ActiveEventLoop) {
        let Some(view) = &mut self.view else { return };
        if self.drawn == FRAMES {
            // The frames must not be the old size only.
            if self.extents.len() >= 2 {
                event_loop.exit();
            }
            return;
        }
        if !view.draw(self.drawn).unwrap() {
            view.rebuild(false).unwrap();
            return;
        }
        self.drawn += 1;
        if self.drawn == FRAMES / 2 {
            let _ = view.window.request_inner_size(PhysicalSize::new(400, 300));
            view.rebuild(false).unwrap();
        }
    }

    fn exiting(&mut self, _: &ActiveEventLoop) {
        self.view = None;
    }
}
